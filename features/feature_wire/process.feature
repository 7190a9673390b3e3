Feature: The extension as a process
  It lives from its start to shutdown, the end of its input, or a broken pipe.

  @0.2 @0.4 @EXT04-SHUT-006
  Scenario: A call that shutdown interrupts
    Given the extension is ready
    And a call is running
    When the host asks for shutdown
    And every call is answered before the last request
    Then no frame breaks a rule of this scenario

  @0.1 @0.2 @0.4 @EXT04-PROC-001
  Scenario: The input ends in the middle of a session
    Given the extension is ready
    When the host closes the input
    Then the extension exits

  @0.1 @0.2 @0.4 @EXT04-PROC-001
  Scenario: The input ends before the session begins
    Given the extension has been started
    When the host closes the input
    Then the extension exits

  @0.1 @0.2 @0.4 @EXT04-PROC-001
  Scenario: The input ends during a call
    Given the extension is ready
    And a call is running
    When the host closes the input
    Then the extension exits

  @0.1 @0.2 @0.4 @EXT04-PROC-002
  Scenario: Nobody reads what the extension writes
    Given the extension is ready
    When the host stops reading
    And the host sends the line {"jsonrpc":"2.0","id":«id»,"method":"conform/probe","params":{}}
    Then the extension exits

  @0.1 @0.2 @0.4 @EXT04-PROC-003
  Scenario: An extension with nothing to do stays
    Given the extension is ready
    Then the extension goes on serving
    And the extension goes on serving
    And the extension goes on serving
    And the extension goes on serving

  @0.1 @0.2 @0.4 @EXT04-PROC-004
  Scenario: No process outlives the extension
    Given the extension is ready
    When the host makes the sample call
    And the extension answers with a result
    And the host asks for shutdown
    And the extension answers with a result
    Then no process is left
