Feature: The screen
  The terminal, completions, and surfaces that an extension draws itself.

  @0.2 @0.4 @EXT04-TERM-001
  Scenario: The terminal in a conversation
    Given the extension selects terminal_handoff
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @0.2 @0.4 @EXT04-COMPLETE-001 @EXT04-COMPLETE-002
  Scenario: Completions of a conversation
    Given the extension selects autocomplete
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @0.4 @EXT04-COMPLETE-003
  Scenario: Completions that edit
    Given the extension selects autocomplete
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @0.4 @EXT04-UI-001 @EXT04-UI-002 @EXT04-UI-003 @EXT04-UI-004 @EXT04-UI-005
  Scenario: Surfaces of a conversation
    Given the extension selects remote_ui
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @0.4 @EXT04-UI-006
  Scenario: Input of the terminal
    Given the extension selects terminal_input_intercept_v1
    And the extension is ready
    When the host asks for terminal input
    Then no frame breaks a rule of this scenario
