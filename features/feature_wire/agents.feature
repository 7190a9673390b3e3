Feature: Child agents
  A child runs for the call or the command that has asked for it, within the bounds that it was given.

  @0.2 @0.4 @EXT04-AGENT-001 @EXT04-AGENT-002 @EXT04-AGENT-003 @EXT04-AGENT-004 @EXT04-AGENT-006 @EXT04-AGENT-007
  Scenario: Child agents of a conversation
    Given the extension selects agent_sessions
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @0.4 @EXT04-AGENT-005
  Scenario: What becomes of a child agent
    Given the extension selects agent_sessions
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario
