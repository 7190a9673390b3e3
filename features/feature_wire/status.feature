Feature: Status
  A line for a surface, or nothing.

  @0.1 @0.2 @0.4 @EXT04-STATUS-001 @EXT04-STATUS-002
  Scenario: Status that is asked for
    Given the extension declares ui
    And the extension is ready
    When the host asks for the status
    Then no frame breaks a rule of this scenario
