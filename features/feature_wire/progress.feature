@0.2 @0.4
Feature: Progress
  Only if it was selected, only of a request that runs, and always forward.

  @EXT04-PROG-002 @EXT04-PROG-003 @EXT04-PROG-004 @EXT04-PROG-005 @EXT04-PROG-006 @EXT04-PROG-007 @EXT04-PROG-008 @EXT04-PROG-012
  Scenario: Progress of a conversation
    Given the extension is ready
    When the host has an ordinary conversation
    And the host asks for shutdown
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

  @EXT04-PROG-001
  Scenario: No progress for a host that does not offer it
    Given the host offers /protocol/optional_features = []
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario
