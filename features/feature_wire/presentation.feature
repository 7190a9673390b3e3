@0.2 @0.4
Feature: Presentation
  A snapshot of what an extension does, whole every time and newer every time.

  @EXT04-PRES-001 @EXT04-PRES-002 @EXT04-PRES-003 @EXT04-PRES-004 @EXT04-PRES-005 @EXT04-PRES-006
  Scenario: Snapshots of a conversation
    Given the extension declares presentation
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario
