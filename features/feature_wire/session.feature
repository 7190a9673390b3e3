Feature: The session
  Entries, messages and the tools in use, and the life of the session itself.

  @0.2 @0.4 @EXT04-ENTRY-001
  Scenario: Entries of a conversation
    Given the extension selects session_entries
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @0.2 @0.4 @EXT04-INJECT-001
  Scenario: Messages of a conversation
    Given the extension selects message_injection
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @0.2 @0.4 @EXT04-ACTIVE-001
  Scenario: Tools in use in a conversation
    Given the extension selects active_tools
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @0.4 @EXT04-SESSION-001
  Scenario: Control of the session
    Given the extension selects session_control_v1
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @0.4 @EXT04-COMPACT-001 @EXT04-COMPACT-002
  Scenario: Compactions of a conversation
    Given the extension selects session_compaction_v1
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario
