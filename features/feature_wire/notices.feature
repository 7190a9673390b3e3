@0.1 @0.2 @0.4
Feature: Notices to the person
  Plain text, with a level and perhaps a title, from an extension whose manifest says that it sends them.

  @EXT04-NOTE-001 @EXT04-NOTE-002 @EXT04-NOTE-003 @EXT04-NOTE-004
  Scenario: Notices of a conversation
    Given the extension is ready
    When the host has an ordinary conversation
    And the host asks for shutdown
    And the extension answers with a result
    Then no frame breaks a rule of this scenario
