@0.1 @0.2 @0.4
Feature: The extension as a process
  It lives until shutdown, the end of its input or the loss of its output, and takes along what it has started.

  @EXT04-PROC-001
  Scenario: The input ends before initialize
    Given the extension has been started
    When the host closes the input
    Then the extension exits

  @EXT04-PROC-001
  Scenario: The input ends between calls
    Given the extension is ready
    When the host makes the sample call
    And the extension answers with a result or an error
    And the host closes the input
    Then the extension exits

  @EXT04-PROC-001
  Scenario: The input ends during a call
    Given the extension is ready
    And a call is running
    When the host closes the input
    Then the extension exits

  @EXT04-PROC-002
  Scenario: Nobody reads what the extension writes
    Given the extension is ready
    When the host stops reading
    And the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{}}
    Then the extension exits

  @EXT04-PROC-003
  Scenario: An extension stays when it has refused something
    Given the extension is ready
    When the host sends the line {"jsonrpc":"2.0","method":"conform/notice","params":{}}
    Then the extension goes on serving
    And the extension goes on serving
    And the extension goes on serving

  @EXT04-PROC-003
  Scenario: An extension stays when it has served a call
    Given the extension is ready
    When the host makes the sample call
    And the extension answers with a result or an error
    Then the extension goes on serving
    And the extension goes on serving

  @EXT04-PROC-004
  Scenario: No process outlives the extension
    Given the extension is ready
    When the host makes the sample call
    And the extension answers with a result or an error
    And the host asks for shutdown
    And the extension answers with a result
    Then no process is left
