Feature: A host tells the model of tools
  What a tool says of itself for prompts reaches the model.

  @0.4 @EXT04-TOOL-015
  Scenario: Guidelines without a snippet
    Given an extension "alpha"
    And the extension "alpha" lists {"name":"note","description":"Notes.","parameters":{"type":"object"},"prompt_guidelines":["Note every octet."]}
    When the host is given the prompt "hello"
    And the host ends
    Then the model is told "Note every octet."
