@0.4
Feature: Composition
  A tool may call other tools in its place, within the bounds of its own call.

  @EXT04-NEST-002 @EXT04-NEST-003
  Scenario: Composed calls of a conversation
    Given the extension selects tool_composition_v1
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @EXT04-NEST-004
  Scenario: An answer that comes as a file
    Given the extension selects tool_composition_v1
    And the extension is ready
    And the host answers composition/context with context_file as a file
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario
