@0.2 @0.4
Feature: Artifacts
  Images and sounds are published first and shown by the id that the host gives.

  @EXT04-ART-001 @EXT04-ART-002 @EXT04-ART-003 @EXT04-ART-004 @EXT04-ART-005
  Scenario: Artifacts of a conversation
    Given the extension selects artifacts
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario
