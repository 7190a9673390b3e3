Feature: A host tells the model of tools
  What a tool says of itself for prompts reaches the model.

  @0.4 @EXT04-TOOL-015
  Scenario: Guidelines without a snippet
    Given an extension "alpha"
    And the extension "alpha" lists {"name":"note","description":"Notes.","parameters":{"type":"object"},"prompt_guidelines":["Note every octet."]}
    When the host is given the prompt "hello"
    And the host ends
    Then the model is told "Note every octet."

  @0.4 @EXT04-TOOL-017
  Scenario: A tool that is not active
    Given an extension "alpha" that answers
      | command/execute greet | asks tools/set_active {"parent_request_id":"«parent»","names":[]} |
    And the extension "alpha" lists {"name":"note","description":"Notes.","parameters":{"type":"object"},"prompt_guidelines":["Note every octet."]}
    When the host is given the prompt "first"
    And the host runs the command "greet"
    And the host is given the prompt "second"
    And the host ends
    Then request 1 to the model tells "Note every octet."
    And request 2 to the model does not tell "Note every octet."

  @0.4 @EXT04-TOOL-018
  Scenario: A tool that stops being active during a run
    Given an extension "alpha" that answers
      | tool/call slow | asks tools/set_active {"parent_request_id":"«parent»","names":["slow"]} |
    And the extension "alpha" lists {"name":"note","description":"Notes.","parameters":{"type":"object"},"prompt_guidelines":["Note every octet."]}
    And the model calls the tool "slow" with {}
    When the host is given the prompt "first"
    And the host is given the prompt "second"
    And the host ends
    Then request 1 to the model tells "Note every octet."
    And request 2 to the model tells "Note every octet."
    And request 3 to the model does not tell "Note every octet."
