Feature: What a message hangs on
  Most of what an extension asks belongs to a request of the host that still runs, or to the owner of one that has ended.

  @0.2 @0.4 @EXT04-PARENT-001 @EXT04-PARENT-002 @EXT04-OWNER-001 @EXT04-INPUT-001
  Scenario: Parents and owners of a conversation
    Given the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @0.4 @EXT04-PARENT-003 @EXT04-DIAG-001
  Scenario: What only a tool call may ask
    Given the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @0.1 @0.2 @0.4 @EXT04-PARENT-004 @EXT04-CTX-002 @EXT04-STATUS-002
  Scenario: What belongs to no request
    Given the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @0.1 @0.2 @0.4 @EXT04-OWNER-002
  Scenario: Status that no session owns
    Given the extension declares ui
    And the extension is ready
    When the host asks for bare status
    Then the extension goes on serving

  @0.1 @0.2 @0.4 @EXT04-OWNER-002
  Scenario: Renderings that no session owns
    Given the extension declares tool_renderers
    And the extension is ready
    When the host asks for bare renderings
    Then the extension goes on serving
