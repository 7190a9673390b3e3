Feature: The orderly end
  Shutdown is answered behind every other answer that is owed, as the last word; then the process exits.

  @0.1 @0.2 @0.4 @EXT04-SHUT-001
  Scenario: Shutdown is answered
    Given the extension is ready
    When the host asks for shutdown
    Then the extension answers with a result or an error

  @0.1 @0.2 @0.4 @EXT04-SHUT-001
  Scenario: Shutdown is answered while a call runs
    Given the extension is ready
    And a call is running
    When the host asks for shutdown
    Then the extension answers with a result or an error

  @0.1 @0.2 @0.4 @EXT04-SHUT-002
  Scenario: Shutdown is answered with an object
    Given the extension is ready
    When the host asks for shutdown
    Then the extension answers with a result
    And no frame breaks a rule of this scenario

  @0.1 @0.2 @0.4 @EXT04-SHUT-003
  Scenario: Running calls are answered before shutdown is
    Given the extension is ready
    And a call is running
    And a call is running
    When the host asks for shutdown
    Then every call is answered before the last request

  @0.1 @0.2 @0.4 @EXT04-SHUT-004
  Scenario: The answer to shutdown is the last frame
    Given the extension is ready
    When the host makes the sample call
    And the extension answers with a result or an error
    And the host asks for shutdown
    And the extension answers with a result
    Then the extension exits and has written nothing more

  @0.1 @0.2 @0.4 @EXT04-SHUT-005
  Scenario: The process exits behind its answer, its input still open
    Given the extension is ready
    When the host asks for shutdown
    And the extension answers with a result
    Then the extension exits

  @0.2 @0.4 @EXT04-SHUT-006
  Scenario: A call that shutdown interrupts
    Given the extension is ready
    And a call is running
    When the host asks for shutdown
    And every call is answered
    Then no frame breaks a rule of this scenario
