@0.3
Feature: Envelopes and errors
  Four envelopes exist and nothing beside them. An invalid one that carries a legal id is answered; any other is met with silence.

  @EXT03-ENV-001 @EXT03-ENV-002 @EXT03-ENV-003 @EXT03-ENV-004 @EXT03-ENV-005 @EXT03-ENV-006
  @EXT03-ERR-001 @EXT03-ERR-002 @EXT03-ERR-003 @EXT03-ERR-005 @EXT03-ERR-006 @EXT03-ERR-008
  Scenario: Envelopes of a conversation
    Given the extension is ready
    When the host has an ordinary conversation
    And the host asks for shutdown
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

  @EXT03-ENV-006
  Scenario: A string id comes back as a string
    Given the extension is ready
    When the host sends the line {"id":"«id»","jsonrpc":"2.0","method":"conform/probe","params":{}}
    And the extension goes on serving
    Then no frame breaks a rule of this scenario

  @EXT03-ENV-007
  Scenario: A legal id
    Given the extension is ready
    Then each of these lines is answered with the error unknown_method
      | {"id":0,"jsonrpc":"2.0","method":"conform/probe","params":{}}                    |
      | {"id":9007199254740991,"jsonrpc":"2.0","method":"conform/probe","params":{}}     |
      | {"id":"a","jsonrpc":"2.0","method":"conform/probe","params":{}}                  |
      | {"id":"«repeat 256 i»","jsonrpc":"2.0","method":"conform/probe","params":{}}     |
      | {"id":"é«hex F0 9F 90 A7»","jsonrpc":"2.0","method":"conform/probe","params":{}} |

  @EXT03-ENV-008
  Scenario: An invalid envelope with a legal id: an unlisted member
    Given the extension is ready
    Then each of these lines is answered with the error invalid_request
      | {"id":«id»,"jsonrpc":"2.0","method":"shutdown","params":{},"trace":1}        |
      | {"id":«id»,"jsonrpc":"2.0","meta":null,"method":"conform/probe","params":{}} |

  @EXT03-ENV-009
  Scenario: An invalid envelope with a legal id: a member of the wrong value
    Given the extension is ready
    Then each of these lines is answered with the error invalid_request
      | {"id":«id»,"method":"shutdown","params":{}}                   |
      | {"id":«id»,"jsonrpc":"1.0","method":"shutdown","params":{}}   |
      | {"id":«id»,"jsonrpc":2,"method":"shutdown","params":{}}       |
      | {"id":«id»,"jsonrpc":"2.0","method":"shutdown"}               |
      | {"id":«id»,"jsonrpc":"2.0","method":"shutdown","params":null} |
      | {"id":«id»,"jsonrpc":"2.0","method":7,"params":{}}            |
      | {"id":«id»,"jsonrpc":"2.0","method":null,"params":{}}         |

  @EXT03-ENV-010
  Scenario: An invalid envelope with a legal id: a method name over 128 bytes
    Given the extension is ready
    Then each of these lines is answered with the error invalid_request or resource_exhausted
      | {"id":«id»,"jsonrpc":"2.0","method":"«repeat 129 m»","params":{}} |

  @EXT03-ENV-011
  Scenario: An invalid envelope with a legal id: an empty method name
    Given the extension is ready
    Then each of these lines is answered with the error invalid_request
      | {"id":«id»,"jsonrpc":"2.0","method":"","params":{}} |

  @EXT03-ENV-012
  Scenario: An invalid envelope with a legal id: a method and an outcome
    Given the extension is ready
    Then each of these lines is answered with the error invalid_request
      | {"id":«id»,"jsonrpc":"2.0","method":"shutdown","params":{},"result":{}}                                        |
      | {"error":{"code":-32603,"message":"internal error"},"id":«id»,"jsonrpc":"2.0","method":"shutdown","params":{}} |

  @EXT03-ENV-013
  Scenario: An invalid envelope with a legal id: a cancellation with an id
    Given the extension is ready
    Then each of these lines is answered with the error invalid_request
      | {"id":«id»,"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}} |

  @EXT03-ENV-014
  Scenario: An invalid envelope that deserves no answer: a request method without an id
    Given the extension is ready
    Then each of these lines is met with silence
      | {"jsonrpc":"2.0","method":"shutdown","params":{}}   |
      | {"jsonrpc":"2.0","method":"initialize","params":{}} |

  @EXT03-ENV-015
  Scenario: An invalid envelope that deserves no answer: an id that is none
    Given the extension is ready
    Then each of these lines is met with silence
      | {"id":null,"jsonrpc":"2.0","method":"shutdown","params":{}}             |
      | {"id":"","jsonrpc":"2.0","method":"shutdown","params":{}}               |
      | {"id":-1,"jsonrpc":"2.0","method":"shutdown","params":{}}               |
      | {"id":"«repeat 257 i»","jsonrpc":"2.0","method":"shutdown","params":{}} |
      | {"id":true,"jsonrpc":"2.0","method":"shutdown","params":{}}             |
      | {"id":[1],"jsonrpc":"2.0","method":"shutdown","params":{}}              |

  @EXT03-ENV-015
  Scenario: A cancellation whose id is null is none
    Given the extension is ready
    And a call is running
    When the host sends the line {"id":null,"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":«running»}}
    Then the running call is undisturbed

  @EXT03-ENV-016
  Scenario: An invalid envelope that deserves no answer: no object
    Given the extension is ready
    Then each of these lines is met with silence
      | null                                                            |
      | 7                                                               |
      | "shutdown"                                                      |
      | [{"id":1,"jsonrpc":"2.0","method":"conform/probe","params":{}}] |

  @EXT03-ENV-017
  Scenario: An invalid envelope that deserves no answer: and serves on
    Given the extension is ready
    Then each of these lines is met with silence
      | {}                |
      | {"jsonrpc":"2.0"} |

  @EXT03-ENV-018
  Scenario Outline: A response to nothing the extension asked
    Given the extension is ready
    When the host sends the line <line>
    Then the extension ends without a word

    Examples:
      | line                                                                              |
      | {"id":"nobody","jsonrpc":"2.0","result":{}}                                       |
      | {"error":{"code":-32603,"message":"internal error"},"id":99,"jsonrpc":"2.0"}      |
