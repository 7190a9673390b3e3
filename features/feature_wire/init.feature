@0.1 @0.2 @0.4
Feature: The first exchange
  The host tells who the extension is and what it offers; the extension answers what it has, or refuses and ends.

  @EXT04-INIT-001
  Scenario: An extension answers initialize and then serves
    Given the extension has been started
    When the host sends initialize
    Then the extension answers with a result
    And the extension goes on serving

  @EXT04-INIT-002 @EXT04-INIT-003
  Scenario: The answer has the version asked for and the declared names
    Given the extension has been started
    When the host sends initialize
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

  @EXT04-INIT-004
  Scenario Outline: A version that no extension speaks
    Given the extension has been started
    When the host sends initialize with /api_version = <version>
    Then the extension answers with an error

    Examples:
      | version |
      | ""      |
      | "9.9"   |
      | "0.99"  |
      | "0.1.1" |
      | "0.2.1" |
      | "0.4.1" |

  @EXT04-INIT-005
  Scenario: A refused initialize is the end
    Given the extension has been started
    When the host sends initialize with /api_version = "9.9"
    And the extension answers with an error
    Then the extension exits

  @EXT04-INIT-006
  Scenario: A host without a session
    Given the extension has been started
    When the host sends initialize with /host = {}
    Then the extension answers with a result
    And the extension goes on serving

  @EXT04-INIT-007
  Scenario: The refusal of a version is the extension's own error
    Given the extension has been started
    When the host sends initialize with /api_version = "9.9"
    Then the extension answers with the error server_error
