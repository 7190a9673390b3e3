Feature: Questions to the person
  An extension asks on behalf of a request that runs; a host without a person says no.

  @0.1 @0.2 @0.4 @EXT04-CONFIRM-001
  Scenario: Confirmations of a conversation
    Given the extension declares confirmations
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @0.1 @EXT01-CONFIRM-001
  Scenario: Confirmations of the frozen version hang on nothing
    Given the extension declares confirmations
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario
