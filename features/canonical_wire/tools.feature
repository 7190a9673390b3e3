@0.3
Feature: Methods and tool calls
  An extension serves what it selected and refuses the rest without falling over.

  @EXT03-METHOD-001 @EXT03-METHOD-005
  Scenario: A method that an extension does not serve: outside the protocol
    Given the extension is ready
    Then each of these lines is answered with the error unknown_method
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{}} |
      | {"id":«id»,"jsonrpc":"2.0","method":"Tool/Call","params":{}}     |
      | {"id":«id»,"jsonrpc":"2.0","method":"tools/list","params":{}}    |
    And the extension goes on serving

  @EXT03-METHOD-002
  Scenario: A method that an extension does not serve: known, and never to be selected
    Given the extension is ready
    Then each of these lines is answered with the error unknown_method
      | {"id":«id»,"jsonrpc":"2.0","method":"context/collect","params":{}} |
    And the extension goes on serving

  @EXT03-METHOD-002
  Scenario Outline: A method that an extension does not serve: known, and not selected
    Given the extension selects no <method>
    And the extension is ready
    Then each of these lines is answered with the error unknown_method
      | {"id":«id»,"jsonrpc":"2.0","method":"<method>","params":{}} |
    And the extension goes on serving

    Examples:
      | method           |
      | provider/stream  |
      | migration/detect |
      | migration/import |
      | hook/run         |

  @EXT03-METHOD-003
  Scenario: A method that an extension does not serve: for extensions to call
    Given the extension is ready
    Then each of these lines is answered with the error unknown_method
      | {"id":«id»,"jsonrpc":"2.0","method":"bus/publish","params":{}}    |
      | {"id":«id»,"jsonrpc":"2.0","method":"session/create","params":{}} |
    And the extension goes on serving

  @EXT03-METHOD-004
  Scenario: A notification that an extension does not know
    Given the extension is ready
    Then each of these lines is met with silence
      | {"jsonrpc":"2.0","method":"conform/notice","params":{}} |

  @EXT03-METHOD-004
  Scenario Outline: A notification that an extension did not select
    Given the extension selects no <method>
    And the extension is ready
    Then each of these lines is met with silence
      | {"jsonrpc":"2.0","method":"<method>","params":{}} |

    Examples:
      | method          |
      | provider/cancel |
      | bus/event       |
      | bus/lifecycle   |

  @EXT03-TOOL-001 @EXT03-TOOL-002 @EXT03-TOOL-003 @EXT03-TOOL-004 @EXT03-TOOL-005 @EXT03-TOOL-006
  Scenario: A tool call is answered with a result of the right shape
    Given the extension is ready
    When the host makes the sample call
    Then the extension answers with a result
    And no frame breaks a rule of this scenario

  @EXT03-TOOL-008
  Scenario: A tool that fails says so in its result
    Given the extension is ready
    When the host makes the failing call
    Then the extension answers with a result
    And the answer has /result/is_error = true

  @EXT03-TOOL-009
  Scenario: A tool that is not in the catalog
    Given the extension is ready
    When the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{},"context":«context»,"name":"no_such"}}
    Then the extension answers with the error unknown_method or invalid_params
    And the extension goes on serving

  @EXT03-TOOL-010
  Scenario: The refusal of an unknown tool names it
    Given the extension is ready
    When the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{},"context":«context»,"name":"no_such"}}
    Then the extension answers with the error unknown_method
    And the answer has /error/data/method = "no_such"

  @EXT03-TOOL-011
  Scenario: Params that break the model
    Given the extension is ready
    Then each of these lines is answered with the error invalid_params
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{},"context":«context»}}                      |
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"context":«context»,"name":"x"}}                          |
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{},"name":"x"}}                               |
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{},"context":«context»,"extra":1,"name":"x"}} |
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":null,"context":«context»,"name":"x"}}         |
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{},"context":null,"name":"x"}}                |
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{},"context":«context»,"name":7}}             |
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":[]}                                                        |

  @EXT03-TOOL-012
  Scenario: A tool name over its bound
    Given the extension is ready
    When the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{},"context":«context»,"name":"«repeat 129 n»"}}
    Then the extension answers with the error resource_exhausted

  @EXT03-TOOL-013
  Scenario: Arguments that break the schema of the tool
    Given the extension is ready
    When the host makes the misfit call
    Then the extension answers with a result or the error invalid_params
    And the answer has /result/is_error = true or absent

  @EXT03-TOOL-014
  Scenario Outline: The id of a running call is used again
    Given the extension is ready
    And a call is running
    When the host sends the line {"id":«running»,"jsonrpc":"2.0","method":"<method>","params":<params>}
    Then the extension answers with the error invalid_request
    And the running call is undisturbed
    And the host cancels the running call
    And the running call is answered

    Examples:
      | method        | params                                                      |
      | conform/probe | {}                                                          |
      | tool/call     | {"arguments":«arguments»,"context":«context»,"name":«tool»} |
      | shutdown      | {}                                                          |

  @EXT03-LIMIT-001 @EXT03-ORDER-005
  Scenario: As many calls at once as were agreed
    Given the extension is ready
    When the host makes as many calls at once as the bound allows
    Then every call is answered

  @EXT03-LIMIT-003
  Scenario: Cancellation and shutdown find room beside running calls
    Given the host offers /contract/limits/max_concurrent_requests = 1
    And the extension is ready
    And a call is running
    When the host cancels the running call
    And the running call is answered
    And a call is running
    And the host asks for shutdown
    Then every call is answered before the last request

  @EXT03-LIMIT-004
  Scenario: A result that does not fit the agreed frame
    Given the host offers /contract/limits/max_frame_bytes = 65536
    And the extension is ready
    When the host makes the large call
    Then the extension answers with the error resource_exhausted
