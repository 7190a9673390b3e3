@0.1 @0.2 @0.4
Feature: Envelopes and errors
  Requests, notifications and responses, each with an id that fits.

  @EXT04-ENV-001 @EXT04-ENV-002 @EXT04-ENV-003 @EXT04-ENV-004 @EXT04-ENV-006 @EXT04-ENV-008 @EXT04-ENV-009 @EXT04-ENV-010
  @EXT04-ENV-011 @EXT04-ENV-012 @EXT04-ERR-005 @EXT04-LIMIT-002
  Scenario: Envelopes of a conversation
    Given the extension is ready
    When the host has an ordinary conversation
    And the host asks for shutdown
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

  @EXT04-ENV-004
  Scenario Outline: An id comes back as it was
    Given the extension is ready
    When the host sends the line {"jsonrpc":"2.0","id":<id>,"method":"conform/probe","params":{}}
    Then the extension answers with the error unknown_method
    And the answer has /id = <id>

    Examples:
      | id                   |
      | 0                    |
      | 9007199254740991     |

  @EXT04-ENV-005
  Scenario: Requests behind each other are all answered
    Given the extension is ready
    When the host makes as many calls at once as the bound allows
    Then every call is answered

  @EXT04-ENV-007
  Scenario: A notification is never answered
    Given the extension is ready
    Then each of these lines is met with silence
      | {"jsonrpc":"2.0","method":"conform/notice","params":{}} |
      | {"jsonrpc":"2.0","method":"turn/started","params":{}}   |
      | {"jsonrpc":"2.0","method":"tool/call","params":{}}      |

  @EXT04-ENV-013
  Scenario Outline: Members that an extension does not know are ignored
    Given the extension is ready
    When the host sends the line {"jsonrpc":"2.0","id":«id»,"method":"tool/call","params":{"name":«tool»,"arguments":«arguments»,"context":«context»<inner>}<outer>}
    Then the extension answers with a result

    Examples:
      | inner               | outer          |
      | ,"conform_extra":1  |                |
      |                     | ,"trace":{}    |

  @EXT04-ERR-001
  Scenario: An unknown method
    Given the extension is ready
    Then each of these lines is answered with the error unknown_method
      | {"jsonrpc":"2.0","id":«id»,"method":"conform/probe","params":{}} |
      | {"jsonrpc":"2.0","id":«id»,"method":"Tool/Call","params":{}}     |
      | {"jsonrpc":"2.0","id":«id»,"method":"tools/list","params":{}}    |

  @EXT04-ERR-002
  Scenario: The refusal of an unknown method names it
    Given the extension is ready
    When the host sends the line {"jsonrpc":"2.0","id":«id»,"method":"conform/probe","params":{}}
    And the extension answers with an error
    Then the answer has /error/message ~ conform/probe

  @EXT04-ERR-003
  Scenario: A line that is not JSON
    Given the extension is ready
    Then each of these lines is answered with the error parse_error
      | hello                    |
      | {"jsonrpc":"2.0","id":1, |
    And the extension goes on serving

  @EXT04-ERR-004
  Scenario: An object that is no request
    Given the extension is ready
    Then each of these lines is answered with the error invalid_request
      | {"jsonrpc":"1.0","id":«id»,"method":"conform/probe"} |
      | {"id":«id»,"method":"conform/probe","params":{}}     |
      | {"jsonrpc":"2.0","id":«id»,"method":7,"params":{}}   |
