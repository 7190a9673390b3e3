Feature: A host ends calls and extensions
  An interrupt becomes a cancellation, and an end is asked for before it is made.

  @0.2 @0.4 @EXT04-CANCEL-015 @EXT04-CANCEL-010
  @0.3 @EXT03-CANCEL-013 @EXT03-CANCEL-010
  Scenario: The person interrupts a call
    Given a sound extension
    When the host is interrupted during a call of "slow"
    Then the call was cancelled once
    And the extension was asked to shut down
    And nothing of the extension is left

  @0.2 @0.4 @EXT04-CANCEL-012
  @0.3 @EXT03-CANCEL-011
  Scenario: A call that is not settled ends the extension
    Given an extension that lets a cancelled call run on
    When the host is interrupted during a call of "slow"
    Then the call was cancelled once
    And nothing of the extension is left

  @0.1 @EXT01-CANCEL-002
  Scenario: The version without cancellation
    Given a sound extension
    When the host is interrupted during a call of "slow"
    Then no call was cancelled
    And nothing of the extension is left

  @0.1 @0.2 @0.4 @EXT04-SHUT-007
  @0.3 @EXT03-SHUT-012
  Scenario: The end is asked for
    Given a sound extension
    When the host calls the tool "echo"
    Then the extension was asked to shut down
    And nothing of the extension is left

  Scenario Outline: An extension that does not end by itself
    Given an extension that <fault>
    When the host calls the tool "echo"
    Then the host says what the tool said
    And the extension was asked to shut down
    And nothing of the extension is left

    @0.1 @0.2 @0.4 @EXT04-SHUT-008
    Examples:
      | fault                                                        |
      | never answers shutdown                                       |
      | waits for the end of its input behind its answer to shutdown |
      | leaves a process behind that holds its output open           |

    @0.3 @EXT03-SHUT-009
    Examples:
      | fault                                              |
      | does not exit behind its answer to shutdown        |
      | leaves a process behind that holds its output open |
