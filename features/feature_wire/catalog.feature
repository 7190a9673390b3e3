@0.2 @0.4
Feature: Tools that come and go
  Every accepted change makes a new revision, and calls keep to the revision that the model has seen.

  @EXT04-DYN-001 @EXT04-DYN-002 @EXT04-DYN-005
  Scenario: Changes of the catalog in a conversation
    Given the extension selects dynamic_tools
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @EXT04-DYN-003
  Scenario: A revision that there has never been
    Given the extension selects dynamic_tools
    And the extension is ready
    Then each of these lines is answered with the error invalid_params
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":«arguments»,"catalog_revision":4242,"context":«context»,"name":«tool»}}             |
      | {"id":«id»,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":«arguments»,"catalog_revision":9007199254740991,"context":«context»,"name":«tool»}} |
    And the extension goes on serving

  @EXT04-DYN-004
  Scenario: A call under the revision before the newest
    Given the extension selects dynamic_tools
    And the extension is ready
    When the host has an ordinary conversation
    And the host makes the former call
    Then the extension answers with a result
