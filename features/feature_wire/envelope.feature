@0.1 @0.2 @0.4
Feature: Envelopes
  Requests, notifications and responses. A response goes to the request it names, exactly once; a notification gets none.

  @EXT04-ENV-001 @EXT04-ENV-002 @EXT04-ENV-003 @EXT04-ENV-004 @EXT04-ENV-006 @EXT04-ENV-008
  @EXT04-ENV-009 @EXT04-ENV-010 @EXT04-ENV-011 @EXT04-ENV-012 @EXT04-ENV-020
  Scenario: Envelopes of a conversation
    Given the extension is ready
    When the host has an ordinary conversation
    And the host asks for shutdown
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

  @EXT04-ENV-004
  Scenario Outline: An id comes back as it was sent
    Given the extension is ready
    When the host sends the line {"id":<id>,"jsonrpc":"2.0","method":"conform/probe","params":{}}
    And the extension answers with an error
    Then the answer has /id = <id>

    Examples:
      | id               |
      | 123456           |
      | 9007199254740991 |

  @EXT04-ENV-005
  Scenario: A request gets a response, whatever it asks
    Given the extension is ready
    Then each of these lines is answered with an error
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{}}  |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe"}              |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":[1]} |
      | {"id":«id»,"jsonrpc":"2.0","method":"","params":{}}               |
      | {"id":0,"jsonrpc":"2.0","method":"conform/probe","params":{}}     |

  @EXT04-ENV-005
  Scenario: Requests behind each other are all answered
    Given the extension is ready
    When the host makes as many calls at once as the bound allows
    Then every call is answered

  @EXT04-ENV-006
  Scenario: The same question twice gets two answers and no third
    Given the extension is ready
    When the host makes the sample call
    And the extension answers with a result or an error
    And the host makes the sample call
    And the extension answers with a result or an error
    Then the extension stays silent and goes on serving
    And no frame breaks a rule of this scenario

  @EXT04-ENV-007
  Scenario: A notification gets no answer
    Given the extension is ready
    Then each of these lines is met with silence
      | {"jsonrpc":"2.0","method":"conform/notice","params":{}}                   |
      | {"jsonrpc":"2.0","method":"$/conform","params":{"id":1}}                  |
      | {"jsonrpc":"2.0","method":"session/started","params":{"session_id":"s1"}} |

  @EXT04-ENV-007
  Scenario: What a host tells gets no answer
    Given the extension is ready
    When the host tells what happens
    Then the extension stays silent and goes on serving

  @EXT04-ENV-007
  Scenario: A call without an id gets no answer
    Given the extension is ready
    When the host sends the line {"jsonrpc":"2.0","method":"tool/call","params":{"arguments":«arguments»,"context":«context»,"name":«tool»}}
    Then the extension stays silent and goes on serving

  @EXT04-ENV-013
  Scenario: Members that an extension does not know, some of them but for the case
    Given the extension is ready
    Then each of these lines is answered with the error unknown_method
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{},"trace":{"parent":"a"}}      |
      | {"id":«id»,"jsonrpc":"2.0","meta":null,"method":"conform/probe","params":{"extra":[true]}}   |
      | {"id":«id»,"ID":77,"jsonrpc":"2.0","method":"conform/probe","Method":"shutdown","params":{}} |
      | {"Id":"77","id":«id»,"Jsonrpc":"1.0","jsonrpc":"2.0","METHOD":7,"method":"conform/probe"}    |

  @EXT04-ENV-013
  Scenario: A member of a tool call that an extension does not know
    Given the extension is ready
    When the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":«arguments»,"conform_extra":1,"context":«context»,"name":«tool»}}
    Then the extension answers with a result

  @EXT04-ENV-013
  Scenario Outline: A member of initialize that an extension does not know
    Given the extension has been started
    When the host sends initialize with <place> = {"since":9}
    Then the extension answers with a result

    Examples:
      | place                    |
      | /conform_extra           |
      | /host/conform_extra      |
      | /extension/conform_extra |

  @EXT04-ENV-019
  Scenario: An answer that nobody waits for
    Given the extension is ready
    Then each of these lines is met with silence
      | {"id":"conform-nobody","jsonrpc":"2.0","result":{}}                                                  |
      | {"id":987654,"jsonrpc":"2.0","result":{}}                                                            |
      | {"error":{"code":-32601,"message":"unsupported_feature"},"id":"conform-nobody","jsonrpc":"2.0"}      |
    And the extension goes on serving
