Feature: The composer
  Text in front of the person, replaced or completed on behalf of the session in the foreground.

  @0.2 @0.4 @EXT04-COMPOSER-001 @EXT04-COMPOSER-004
  Scenario: The composer in a conversation
    Given the extension selects composer
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @0.4 @EXT04-COMPOSER-002 @EXT04-COMPOSER-003
  Scenario: The composer under a remote editor
    Given the extension selects composer
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario
