Feature: Tool calls and their results
  A call is answered with a result of the right shape, or refused with an error that says why.

  @0.1 @0.2 @0.4 @EXT04-CALL-001
  Scenario: A tool that is not in the catalog
    Given the extension is ready
    When the host sends the line {"jsonrpc":"2.0","id":«id»,"method":"tool/call","params":{"name":"no_such","arguments":{},"context":«context»}}
    Then the extension answers with the error unknown_method

  @0.1 @0.2 @0.4 @EXT04-CALL-002
  Scenario: A call of the wrong shape
    Given the extension is ready
    Then each of these lines is answered with the error invalid_params
      | {"jsonrpc":"2.0","id":«id»,"method":"tool/call","params":{"arguments":{},"context":«context»}}                 |
      | {"jsonrpc":"2.0","id":«id»,"method":"tool/call","params":{"name":«tool»,"arguments":[],"context":«context»}}   |
      | {"jsonrpc":"2.0","id":«id»,"method":"tool/call","params":{"name":«tool»,"arguments":"x","context":«context»}}  |
      | {"jsonrpc":"2.0","id":«id»,"method":"tool/call","params":{"name":«tool»,"arguments":null,"context":«context»}} |

  @0.2 @0.4 @EXT04-CALL-003
  Scenario: A catalog revision that was never negotiated
    Given the extension is ready
    When the host sends the line {"jsonrpc":"2.0","id":«id»,"method":"tool/call","params":{"name":«tool»,"arguments":«arguments»,"context":«context»,"catalog_revision":0}}
    Then the extension answers with the error invalid_params

  @0.1 @0.2 @0.4 @EXT04-CALL-004
  Scenario: A context without an owner and with an empty host
    Given the extension is ready
    When the host sends the line {"jsonrpc":"2.0","id":«id»,"method":"tool/call","params":{"name":«tool»,"arguments":«arguments»,"context":{"workspace":"/w","execution_scope":null,"host":{}}}}
    Then the extension answers with a result

  @0.1 @0.2 @0.4 @EXT04-CALL-005
  Scenario: A call that fails is not the end
    Given the extension is ready
    When the host makes the failing call
    And the extension answers with a result or an error
    And the host makes the sample call
    Then the extension answers with a result

  @0.1 @0.2 @0.4 @EXT04-CALL-006
  Scenario: A tool that fails says so in its result
    Given the extension is ready
    When the host makes the failing call
    Then the extension answers with a result
    And the answer has /result/is_error = true

  @0.2 @0.4
  @EXT04-RESULT-001 @EXT04-RESULT-002 @EXT04-RESULT-003 @EXT04-RESULT-004 @EXT04-RESULT-005 @EXT04-RESULT-006
  @EXT04-RESULT-007 @EXT04-RESULT-008
  Scenario: The result of a call
    Given the extension is ready
    When the host makes the sample call
    Then the extension answers with a result
    And no frame breaks a rule of this scenario

  @0.1 @EXT01-RESULT-001
  Scenario: The result of a call on the frozen API
    Given the extension is ready
    When the host makes the sample call
    Then the extension answers with a result
    And no frame breaks a rule of this scenario

  @0.1 @0.2 @0.4 @EXT04-LIMIT-001
  Scenario: As many calls at once as were agreed
    Given the extension is ready
    When the host makes as many calls at once as the bound allows
    Then every call is answered
