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
  Scenario Outline: A legal id
    Given the extension is ready
    When the host sends the line {"id":<id>,"jsonrpc":"2.0","method":"conform/probe","params":{}}
    Then the extension answers with the error unknown_method

    Examples:
      | id                    |
      | 0                     |
      | 9007199254740991      |
      | "a"                   |
      | "«repeat 256 i»"      |
      | "é«hex F0 9F 90 A7»"  |

  Scenario Outline: An invalid envelope with a legal id
    Given the extension is ready
    When the host sends the line <line>
    Then the extension answers with the error <error>

    @EXT03-ENV-008
    Examples: an unlisted member
      | line                                                                         | error           |
      | {"id":«id»,"jsonrpc":"2.0","method":"shutdown","params":{},"trace":1}      | invalid_request |
      | {"id":«id»,"jsonrpc":"2.0","meta":null,"method":"conform/probe","params":{}} | invalid_request |

    @EXT03-ENV-009
    Examples: a member of the wrong value
      | line                                                                | error           |
      | {"id":«id»,"method":"shutdown","params":{}}                       | invalid_request |
      | {"id":«id»,"jsonrpc":"1.0","method":"shutdown","params":{}}       | invalid_request |
      | {"id":«id»,"jsonrpc":2,"method":"shutdown","params":{}}           | invalid_request |
      | {"id":«id»,"jsonrpc":"2.0","method":"shutdown"}                   | invalid_request |
      | {"id":«id»,"jsonrpc":"2.0","method":"shutdown","params":null}     | invalid_request |
      | {"id":«id»,"jsonrpc":"2.0","method":7,"params":{}}                | invalid_request |
      | {"id":«id»,"jsonrpc":"2.0","method":null,"params":{}}             | invalid_request |

    @EXT03-ENV-010
    Examples: a method name over 128 bytes
      | line                                                                          | error                                 |
      | {"id":«id»,"jsonrpc":"2.0","method":"«repeat 129 m»","params":{}}           | invalid_request or resource_exhausted |

    @EXT03-ENV-011
    Examples: an empty method name
      | line                                                   | error           |
      | {"id":«id»,"jsonrpc":"2.0","method":"","params":{}}  | invalid_request |

    @EXT03-ENV-012
    Examples: a method and an outcome
      | line                                                                                                              | error           |
      | {"id":«id»,"jsonrpc":"2.0","method":"shutdown","params":{},"result":{}}                                         | invalid_request |
      | {"error":{"code":-32603,"message":"internal error"},"id":«id»,"jsonrpc":"2.0","method":"shutdown","params":{}} | invalid_request |

    @EXT03-ENV-013
    Examples: a cancellation with an id
      | line                                                                      | error           |
      | {"id":«id»,"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}} | invalid_request |

  Scenario Outline: An invalid envelope that deserves no answer
    Given the extension is ready
    When the host sends the line <line>
    Then the extension stays silent and goes on serving

    @EXT03-ENV-014
    Examples: a request method without an id
      | line                                                        |
      | {"jsonrpc":"2.0","method":"shutdown","params":{}}           |
      | {"jsonrpc":"2.0","method":"initialize","params":{}}         |

    @EXT03-ENV-015
    Examples: an id that is none
      | line                                                                                |
      | {"id":null,"jsonrpc":"2.0","method":"shutdown","params":{}}                         |
      | {"id":"","jsonrpc":"2.0","method":"shutdown","params":{}}                           |
      | {"id":-1,"jsonrpc":"2.0","method":"shutdown","params":{}}                           |
      | {"id":"«repeat 257 i»","jsonrpc":"2.0","method":"shutdown","params":{}}             |
      | {"id":true,"jsonrpc":"2.0","method":"shutdown","params":{}}                         |
      | {"id":[1],"jsonrpc":"2.0","method":"shutdown","params":{}}                          |

    @EXT03-ENV-016
    Examples: no object
      | line                                                               |
      | null                                                               |
      | 7                                                                  |
      | "shutdown"                                                         |
      | [{"id":1,"jsonrpc":"2.0","method":"conform/probe","params":{}}]    |

    @EXT03-ENV-017
    Examples: and serves on
      | line                                          |
      | {}                                            |
      | {"jsonrpc":"2.0"}                             |

  @EXT03-ENV-018
  Scenario Outline: A response to nothing the extension asked
    Given the extension is ready
    When the host sends the line <line>
    Then the extension ends without a word

    Examples:
      | line                                                                              |
      | {"id":"nobody","jsonrpc":"2.0","result":{}}                                       |
      | {"error":{"code":-32603,"message":"internal error"},"id":99,"jsonrpc":"2.0"}      |
