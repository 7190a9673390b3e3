@0.2 @0.4
Feature: Tool results
  Typed parts with at least one text, a flag for failure, and structured content exactly where the tool has a schema for it.

  @EXT04-RESULT-001 @EXT04-RESULT-002 @EXT04-RESULT-003 @EXT04-RESULT-004 @EXT04-RESULT-005
  @EXT04-RESULT-006 @EXT04-RESULT-007 @EXT04-RESULT-008
  Scenario: The result of a call that ends well
    Given the extension is ready
    When the host makes the sample call
    And the extension answers with a result or an error
    Then no frame breaks a rule of this scenario

  @EXT04-RESULT-001 @EXT04-RESULT-002 @EXT04-RESULT-004 @EXT04-RESULT-005
  Scenario: The result of a call that fails
    Given the extension is ready
    When the host makes the failing call
    And the extension answers with a result or an error
    Then no frame breaks a rule of this scenario
