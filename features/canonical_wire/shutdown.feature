@0.3
Feature: Order and shutdown
  Nothing before initialize, every request answered once, and the answer to shutdown as the last word.

  @EXT03-SHUT-001 @EXT03-SHUT-002 @EXT03-SHUT-005
  Scenario: Shutdown is answered, and the process exits
    Given the extension is ready
    When the host asks for shutdown
    Then the extension answers with a result
    And the extension exits
    And no frame breaks a rule of this scenario

  @EXT03-SHUT-003
  Scenario: The answer to shutdown is the last frame
    Given the extension is ready
    When the host asks for shutdown
    And the extension answers with a result
    Then the extension exits and has written nothing more

  @EXT03-SHUT-004
  Scenario: Running calls are answered before shutdown is
    Given the extension is ready
    And a call is running
    And a call is running
    When the host asks for shutdown
    Then every call is answered before the last request

  @EXT03-SHUT-006
  Scenario: Shutdown is a success
    Given the extension is ready
    When the host asks for shutdown
    And the extension answers with a result
    Then the exit status is 0

  @EXT03-SHUT-007
  Scenario: Shutdown with params
    Given the extension is ready
    Then each of these lines is answered with the error invalid_params
      | {"id":«id»,"jsonrpc":"2.0","method":"shutdown","params":{"force":true}} |
      | {"id":«id»,"jsonrpc":"2.0","method":"shutdown","params":[]}             |
    And the extension goes on serving

  @EXT03-SHUT-008
  Scenario: A call that arrives behind shutdown
    Given the extension is ready
    When the host sends the bytes {"id":90,"jsonrpc":"2.0","method":"shutdown","params":{}}«hex 0A»{"id":91,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":«arguments»,"context":«context»,"name":«tool»}}«hex 0A»
    Then the extension exits
    And no frame breaks a rule of this scenario

  @EXT03-ORDER-001
  Scenario: An extension that hears nothing says nothing
    Given the extension has been started
    When the host closes the input
    Then the extension ends without a word

  @EXT03-ORDER-002 @EXT03-ORDER-004 @EXT03-ORDER-007
  Scenario: An extension speaks when it may
    Given the extension is ready
    When the host has an ordinary conversation
    And the host asks for shutdown
    And the extension answers with a result
    Then no frame breaks a rule of this scenario
