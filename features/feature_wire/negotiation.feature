@0.2 @0.4
Feature: What an extension selects
  A selection has what is required, of the rest only what is offered, and nothing without what it depends on.

  @EXT04-NEG-001 @EXT04-NEG-002 @EXT04-NEG-003 @EXT04-NEG-004 @EXT04-NEG-005 @EXT04-NEG-006 @EXT04-NEG-020
  Scenario: The selection from the standard offer
    Given the extension has been started
    When the host sends initialize
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

  @EXT04-NEG-002 @EXT04-NEG-003 @EXT04-NEG-020
  Scenario: The selection from a bare offer
    Given the extension has been started
    When the host sends initialize with /protocol/optional_features = []
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

  @EXT04-NEG-005
  Scenario Outline: The bound that an extension selects from a low offer
    Given the extension has been started
    When the host sends initialize with /protocol/limits/max_concurrent_requests = <bound>
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

    Examples:
      | bound |
      | 1     |
      | 2     |

  @EXT04-NEG-007
  Scenario: A feature of the future is offered
    Given the extension has been started
    When the host sends initialize with /protocol/optional_features/- = "conform_telepathy_v9"
    Then the extension answers with a result
    And no frame breaks a rule of this scenario

  @EXT04-NEG-008
  Scenario: A feature of the future is required
    Given the extension has been started
    When the host sends initialize with /protocol/required_features/- = "conform_telepathy_v9"
    Then the extension answers with an error

  @EXT04-NEG-009
  Scenario: The refusal names the features that are not there
    Given the extension has been started
    When the host sends initialize with /protocol/required_features/- = "conform_telepathy_v9"
    Then the extension answers with the error server_error
    And the answer has /error/data/unsupported_features = ["conform_telepathy_v9"]

  @EXT04-INIT-006
  Scenario Outline: A host that sends no flags to an extension that has none
    Given the extension declares no flags
    And the extension has been started
    When the host sends initialize with /flag_values = <value>
    Then the extension answers with a result

    Examples:
      | value  |
      | []     |
      | absent |
