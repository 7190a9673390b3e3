@0.3
Feature: The extension as a process
  It lives from its start to shutdown, the end of its input, or a broken pipe, wherever it is started.

  @EXT03-PROC-003
  Scenario: The input ends in the middle of a session
    Given the extension is ready
    When the host closes the input
    Then the extension exits

  @EXT03-PROC-003
  Scenario: The input ends before the session begins
    Given the extension has been started
    When the host closes the input
    Then the extension exits

  @EXT03-PROC-003
  Scenario: The input ends during a call
    Given the extension is ready
    And a call is running
    When the host closes the input
    Then the extension exits

  @EXT03-PROC-004
  Scenario: Nobody reads what the extension writes
    Given the extension is ready
    When the host stops reading
    And the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{}}
    Then the extension exits

  @EXT03-PROC-005
  Scenario: No process outlives the extension
    Given the extension is ready
    When the host makes the sample call
    And the extension answers with a result
    And the host asks for shutdown
    And the extension answers with a result
    Then no process is left

  @EXT03-PROC-006
  Scenario: The environment names another API version
    Given the variable OCTET_EXTENSION_API_VERSION is set to 9.9
    And the extension has been started
    Then the extension ends without a word
    And the exit status is not 0

  @EXT03-PROC-007
  Scenario: The environment names no API version
    Given the variable OCTET_EXTENSION_API_VERSION is not set
    And the extension has been started
    When the host sends initialize
    Then the extension answers with a result

  @EXT03-PROC-008
  Scenario: An extension with nothing to do stays
    Given the extension is ready
    Then the extension goes on serving
    And the extension goes on serving
    And the extension goes on serving
    And the extension goes on serving

  @EXT03-PROC-009
  Scenario: An extension is started elsewhere
    Given the working directory is not its own
    And the extension has been started
    When the host sends initialize
    Then the extension answers with a result
