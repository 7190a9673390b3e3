Feature: Hooks
  A host asks only the hooks that are declared, and each answers for itself alone.

  @0.1 @0.2 @0.4 @EXT04-HOOK-001
  Scenario: A hook that is not declared, or a payload that is not the hook's
    Given the extension declares hooks
    And the extension is ready
    Then each of these lines is answered with the error invalid_params
      | {"id":«id»,"jsonrpc":"2.0","method":"hook/run","params":{"context":«context»,"hook":"conform_no_such_hook","payload":{}}} |
      | {"id":«id»,"jsonrpc":"2.0","method":"hook/run","params":{"context":«context»,"hook":«hook»,"payload":{}}}                 |
      | {"id":«id»,"jsonrpc":"2.0","method":"hook/run","params":{"context":«context»,"hook":«hook»,"payload":[]}}                 |
    And the extension goes on serving

  @0.1 @0.2 @0.4 @EXT04-HOOK-002 @EXT04-HOOK-003
  Scenario: The results of hooks
    Given the extension declares hooks
    And the extension is ready
    When the host asks for the hooks
    Then no frame breaks a rule of this scenario

  @0.2 @0.4 @EXT04-HOOK-004 @EXT04-HOOK-005 @EXT04-HOOK-006
  Scenario: The results of hooks about providers, storage and changes
    Given the extension declares hooks
    And the extension is ready
    When the host asks for the hooks
    Then no frame breaks a rule of this scenario

  @0.4 @EXT04-HOOK-007 @EXT04-HOOK-008 @EXT04-HOOK-009 @EXT04-HOOK-010 @EXT04-HOOK-011 @EXT04-HOOK-012
  Scenario: The results of hooks about the session and its resources
    Given the extension declares hooks
    And the extension is ready
    When the host asks for the hooks
    Then no frame breaks a rule of this scenario

  @0.4 @EXT04-NEG-022
  Scenario: The features behind declared hooks are selected
    Given the extension declares hooks
    And the extension has been started
    When the host sends initialize
    And the extension answers with a result
    Then no frame breaks a rule of this scenario
