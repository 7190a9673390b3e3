@0.3
Feature: Providers, authorization, themes and sessions
  What an extension asks of its host keeps to the models, and to what is its own.

  @EXT03-PROVIDER-001 @EXT03-PROVIDER-002 @EXT03-PROVIDER-003
  Scenario: Providers are declared
    Given the extension selects provider_catalog
    And the extension is ready
    When the host has an ordinary conversation
    And the extension goes on serving
    Then no frame breaks a rule of this scenario

  @EXT03-AUTH-001 @EXT03-AUTH-002
  Scenario: Authorization is asked for and given back
    Given the extension selects provider_auth
    And the extension is ready
    When the host has an ordinary conversation
    And the extension goes on serving
    Then no frame breaks a rule of this scenario

  @EXT03-THEME-001 @EXT03-THEME-002
  Scenario: A theme is chosen
    Given the extension selects theme_selection
    And the extension is ready
    When the host has an ordinary conversation
    And the extension goes on serving
    Then no frame breaks a rule of this scenario

  @EXT03-SESSION-001
  Scenario: Sessions are made and changed
    Given the extension selects session_lifecycle
    And the extension is ready
    When the host has an ordinary conversation
    And the extension goes on serving
    Then no frame breaks a rule of this scenario
