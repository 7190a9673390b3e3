@0.2 @0.4
Feature: Menus
  What a person may choose, some levels deep.

  @EXT04-MENU-001 @EXT04-MENU-002
  Scenario: The menu is sound
    Given the extension declares menu
    And the extension is ready
    When the host asks for the menu
    Then no frame breaks a rule of this scenario
