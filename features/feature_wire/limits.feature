@0.1 @0.2 @0.4
Feature: Bounds
  As many requests as agreed are served together, and an extension does not ask more of its host than it may.

  @EXT04-LIMIT-001
  Scenario: As many calls at once as were agreed
    Given the extension is ready
    When the host makes as many calls at once as the bound allows
    Then every call is answered

  @EXT04-LIMIT-002
  Scenario: Requests of an extension during a conversation
    Given the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario
