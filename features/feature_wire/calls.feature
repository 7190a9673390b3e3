Feature: Tool calls
  A call names a tool of the catalog and gives it an object. What is wrong with a call is answered, and the next one is served.

  @0.1 @0.2 @0.4 @EXT04-CALL-001
  Scenario: A tool that is not in the catalog
    Given the extension is ready
    Then each of these lines is answered with the error unknown_method
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{},"context":«context»,"name":"conform_no_such_tool"}} |
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{},"context":«context»,"name":"constructor"}}          |
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{},"context":«context»,"name":"__proto__"}}            |
    And the extension goes on serving

  @0.1 @0.2 @0.4 @EXT04-CALL-002
  Scenario: A call without a name, or without an object of arguments
    Given the extension is ready
    Then each of these lines is answered with the error invalid_params
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{},"context":«context»}}               |
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":[],"context":«context»,"name":«tool»}} |
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":"","context":«context»,"name":«tool»}} |
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":7,"context":«context»,"name":«tool»}}  |
    And the extension goes on serving

  @0.2 @0.4 @EXT04-CALL-003
  Scenario: A catalog revision that nobody negotiated
    Given the host offers /protocol/optional_features = []
    And the extension is ready
    Then each of these lines is answered with the error invalid_params
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":«arguments»,"catalog_revision":0,"context":«context»,"name":«tool»}} |
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":«arguments»,"catalog_revision":3,"context":«context»,"name":«tool»}} |

  @0.1 @0.2 @0.4 @EXT04-CALL-004
  Scenario: A call that no session owns
    Given the extension is ready
    When the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":«arguments»,"context":{"execution_scope":null,"host":{},"workspace":"/workspace"},"name":«tool»}}
    Then the extension answers with a result

  @0.1 @0.2 @0.4 @EXT04-CALL-005
  Scenario: A call behind one that failed
    Given the extension is ready
    When the host makes the failing call
    And the extension answers with a result or an error
    And the host makes the failing call
    And the extension answers with a result or an error
    And the host makes the sample call
    Then the extension answers with a result

  @0.1 @0.2 @0.4 @EXT04-CALL-006
  Scenario: A tool that fails says so in its result
    Given the extension is ready
    When the host makes the failing call
    Then the extension answers with a result
    And the answer has /result/is_error = true
