Feature: The first exchange
  The host tells who the extension is and what it offers; the extension answers what it has and selects.

  @0.1 @0.2 @0.4
  @EXT04-INIT-001 @EXT04-INIT-002 @EXT04-INIT-003 @EXT04-TOOL-002 @EXT04-TOOL-003 @EXT04-TOOL-006
  Scenario: An extension answers initialize and then serves
    Given the extension has been started
    When the host sends initialize
    Then the extension answers with a result
    And the extension goes on serving
    And no frame breaks a rule of this scenario

  @0.1 @0.2 @0.4 @EXT04-INIT-004
  Scenario Outline: Another API version
    Given the extension has been started
    When the host sends initialize with /api_version = <version>
    Then the extension answers with an error

    Examples:
      | version |
      | "9.9"   |
      | "0.3"   |
      | ""      |

  @0.1 @0.2 @0.4 @EXT04-INIT-005
  Scenario: A refusal is the end
    Given the extension has been started
    When the host sends initialize with /api_version = "9.9"
    And the extension answers with an error
    Then the extension exits

  @0.1 @0.2 @0.4 @EXT04-INIT-006
  Scenario: A host that says nothing of itself
    Given the extension has been started
    When the host sends initialize with /host = {}
    Then the extension answers with a result

  @0.2 @0.4 @EXT04-INIT-006
  Scenario Outline: A host without flags
    Given the extension has been started
    When the host sends initialize with /flag_values = <value>
    Then the extension answers with a result

    Examples:
      | value  |
      | []     |
      | absent |

  @0.1 @0.2 @0.4 @EXT04-INIT-007
  Scenario: The refusal of a version has the code of an extension's own errors
    Given the extension has been started
    When the host sends initialize with /api_version = "9.9"
    Then the extension answers with the error server_error

  @0.1 @EXT01-INIT-001 @EXT01-TOOL-001
  Scenario: The frozen API negotiates nothing
    Given the extension is ready
    Then no frame breaks a rule of this scenario

  @0.1 @EXT01-INIT-002
  Scenario: The frozen API is offered a protocol
    Given the extension has been started
    When the host sends initialize with /protocol = {"version":"0.1","required_features":[],"optional_features":[],"limits":{"max_concurrent_requests":64}}
    Then the extension answers with an error

  @0.2 @0.4
  @EXT04-NEG-001 @EXT04-NEG-002 @EXT04-NEG-003 @EXT04-NEG-004 @EXT04-NEG-005 @EXT04-NEG-006 @EXT04-NEG-020
  @EXT04-TOOL-004 @EXT04-TOOL-005
  Scenario: The selection from the standard offer
    Given the extension is ready
    Then no frame breaks a rule of this scenario

  @0.2 @0.4 @EXT04-NEG-003
  Scenario: The selection from the smallest offer
    Given the host offers /protocol/optional_features = []
    And the extension is ready
    Then no frame breaks a rule of this scenario

  @0.2 @0.4 @EXT04-NEG-007
  Scenario Outline: An optional feature that nobody knows
    Given the extension has been started
    When the host sends initialize with /protocol/optional_features = <features>
    Then the extension answers with a result
    And no frame breaks a rule of this scenario

    Examples:
      | features                                |
      | ["telepathy_v1"]                        |
      | ["request_progress","telepathy_v1","x"] |

  @0.2 @0.4 @EXT04-NEG-008
  Scenario: A required feature that nobody knows
    Given the extension has been started
    When the host sends initialize with /protocol/required_features/- = "telepathy_v1"
    Then the extension answers with an error

  @0.2 @0.4 @EXT04-NEG-009
  Scenario: The refusal of a required feature names it
    Given the extension has been started
    When the host sends initialize with /protocol/required_features/- = "telepathy_v1"
    Then the extension answers with the error server_error
    And the answer has /error/data/unsupported_features = ["telepathy_v1"]
