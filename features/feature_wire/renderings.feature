@0.1 @0.2 @0.4
Feature: Renderings
  The output of a tool as an extension shows it.

  @EXT04-RENDER-001
  Scenario: Output that ends well or badly
    Given the extension declares tool_renderers
    And the extension is ready
    When the host asks for renderings
    Then no frame breaks a rule of this scenario
