@0.2 @0.4
Feature: Shortcuts
  They are registered inside of initialize, and triggered by their ids.

  @EXT04-SHORTCUT-001 @EXT04-SHORTCUT-002
  Scenario: Shortcuts that an extension registers
    Given the extension selects shortcuts
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @EXT04-SHORTCUT-003
  Scenario: A shortcut that nobody has registered
    Given the extension selects shortcuts
    And the extension is ready
    Then each of these lines is met with silence
      | {"jsonrpc":"2.0","method":"shortcut/trigger","params":{"id":"conform:no-such-shortcut"}} |
      | {"jsonrpc":"2.0","method":"shortcut/trigger","params":{"id":""}}                         |
