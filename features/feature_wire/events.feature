@0.2 @0.4
Feature: Events
  An extension may choose among the events of a lifecycle, and hears what it has chosen in silence.

  @EXT04-EVENT-001
  Scenario: The events that an extension chooses
    Given the extension has been started
    When the host sends initialize
    And the extension answers with a result
    Then no frame breaks a rule of this scenario
