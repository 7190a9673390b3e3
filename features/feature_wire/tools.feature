Feature: Definitions of tools and commands
  What the answer to initialize says about each tool and command. The host refuses a catalog with one bad definition.

  @0.1 @0.2 @0.4 @EXT04-TOOL-002 @EXT04-TOOL-003 @EXT04-TOOL-006 @EXT04-TOOL-008
  Scenario: Every tool and every command is described
    Given the extension has been started
    When the host sends initialize
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

  @0.2 @0.4 @EXT04-TOOL-004 @EXT04-TOOL-005
  Scenario: Output schemas stay simple
    Given the extension has been started
    When the host sends initialize
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

  @0.4 @EXT04-TOOL-009 @EXT04-TOOL-010 @EXT04-NEST-001 @EXT04-RES-004
  Scenario: What features add to the definitions of tools
    Given the extension has been started
    When the host sends initialize
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

  @0.4 @EXT04-TOOL-009 @EXT04-NEST-001 @EXT04-RES-004
  Scenario: What features add to the definitions of tools is left out for a host without them
    Given the extension has been started
    When the host sends initialize with /protocol/optional_features = []
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

  @0.2 @0.4 @EXT04-RELOAD-002
  Scenario: Another start announces the same commands
    Given the extension has been started
    When the host sends initialize
    And the extension answers with a result
    Then the answer has /result/commands = «commands»
