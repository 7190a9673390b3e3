@0.3
Feature: A host of the canonical wire reads strictly
  What breaks the frame, the spelling or the envelope ends the stream; nothing behind it is looked at.

  @EXT03-FRAME-010 @EXT03-MODEL-009
  Scenario: A frame of exactly the bound
    Given an extension with the script
      """
      on tool/call
      say {"id":«id tool/call»,"jsonrpc":"2.0","result":{"content":[{"text":"«text»«fill 1048576»","type":"text"}],"is_error":false,"metadata":{}}}
      """
    When the host calls the tool "echo"
    Then the host says what the tool said
    And the extension was asked to shut down

  @EXT03-FRAME-011
  Scenario: One byte more than the bound and no line feed
    Given an extension with the script
      """
      on tool/call
      say «fill 1048577»↩
      stall
      """
    When the host calls the tool "echo"
    Then the host gives the extension up
    And the extension was not asked to shut down

  Scenario Outline: What ends the stream
    Given an extension with the script
      """
      on tool/call
      say <frame>
      then
      say {"id":"p-1","jsonrpc":"2.0","method":"peer/unknown","params":{}}
      <behind>
      """
    When the host calls the tool "echo"
    Then the host gives the extension up
    And the extension was not asked to shut down
    And the extension is answered
      | request | answer  |
      | "p-1"   | nothing |

    @EXT03-FRAME-013
    Examples:
      | frame | behind       |
      | «hex» | say «answer» |

    @EXT03-READ-030
    Examples:
      | frame                                                                                                | behind       |
      | {"id":«id tool/call»,"jsonrpc":"2.0","result":{"content":[],"is_error":false,"metadata":«nest 33»}} | say «answer» |

    @EXT03-READ-031
    Examples:
      | frame                                                        | behind       |
      | {"id" :"p-2"}                                                | say «answer» |

    @EXT03-ENV-021
    Examples:
      | frame                                   | behind       |
      | {"id":99,"jsonrpc":"2.0","result":{}}   | say «answer» |
      | {"id":"x","jsonrpc":"2.0","result":{}}  | say «answer» |
      | {"id":«id initialize»,"jsonrpc":"2.0","result":{}} | say «answer» |

    @EXT03-ENV-027
    Examples:
      | frame                                                                                        | behind       |
      | {"id":"p-2","jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"p-9","reason":"user"}} | say «answer» |
      | {"jsonrpc":"2.0","method":"theme/select","params":{}}                                        | say «answer» |

    @EXT03-METHOD-007
    Examples:
      | frame                                                       | behind       |
      | {"jsonrpc":"2.0","method":"providers/complete","params":{}} | say «answer» |
      | {"jsonrpc":"2.0","method":"peer/unknown","params":{}}       | say «answer» |

  @EXT03-FRAME-014
  Scenario: A whole answer without its line feed
    Given an extension with the script
      """
      on tool/call
      say «answer»↩
      exit 0
      """
    When the host calls the tool "echo"
    Then the host gives the extension up
    And the tool was called once

  Scenario Outline: The selected bound is that of both sides
    Given an extension with the script
      """
      select max_frame_bytes=2000
      on initialize
      say «initialized»
      say {"id":"p-1","jsonrpc":"2.0","method":"peer/unknown","params":{"x":"«fill <bytes>»"}}
      on tool/call
      say «answer»
      """
    When the host calls the tool "echo"
    Then <end>
    And the extension is answered
      | request | answer   |
      | "p-1"   | <answer> |

    @EXT03-FRAME-017
    Examples:
      | bytes | end                          | answer               |
      | 2000  | nothing of the extension is left | error unknown_method |
      | 2001  | the host gives the extension up | nothing              |

  @EXT03-CANON-014
  Scenario Outline: Arguments without a canonical spelling
    Given a sound extension
    When the host calls the tool "echo" with <arguments>
    Then the host reports a failure
    And the tool was not called
    And the extension was asked to shut down

    Examples:
      | arguments                          |
      | {"text":"x","more":1.5}            |
      | {"text":"x","more":9007199254740992} |

  @EXT03-LIMIT-006
  Scenario: A call over the selected bound
    Given an extension with the script
      """
      select max_frame_bytes=2000
      on tool/call
      say «answer»
      """
    When the host calls the tool "echo" with {"text":"«repeat 2000 x»"}
    Then the host reports a failure
    And the tool was not called
    And the extension was asked to shut down

  @EXT03-ORDER-014
  Scenario: Ids of two sides that are the same
    Given an extension with the script
      """
      on tool/call
      say {"id":«id tool/call»,"jsonrpc":"2.0","method":"peer/unknown","params":{}}
      say {"id":«id initialize»,"jsonrpc":"2.0","method":"peer/unknown","params":{}}
      then
      say «answer»
      on answer 1
      on answer 2
      on shutdown
      say «ended»
      exit 0
      """
    When the host calls the tool "echo"
    Then the host says what the tool said
    And the extension is answered
      | request | answer               |
      | 1       | error unknown_method |
      | 2       | error unknown_method |
