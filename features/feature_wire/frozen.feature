@0.1
Feature: The frozen version
  API 0.1 has no negotiation, no cancellation and no progress, and its tool results are plain text.

  @EXT01-INIT-001 @EXT01-TOOL-001
  Scenario: The answer to initialize has no part of later versions
    Given the extension has been started
    When the host sends initialize
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

  @EXT01-INIT-002
  Scenario: An offer of features is refused
    Given the extension has been started
    When the host sends initialize with /protocol = {"limits":{"max_concurrent_requests":64},"optional_features":[],"required_features":[],"version":"0.1"}
    Then the extension answers with an error

  @EXT01-RESULT-001 @EXT01-CANCEL-001 @EXT01-PROG-001
  Scenario: A conversation without progress, cancellation and parts
    Given the extension is ready
    When the host has an ordinary conversation
    And the host asks for shutdown
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

  @EXT01-CANCEL-001
  Scenario: A call that shutdown interrupts is not cancelled
    Given the extension is ready
    And a call is running
    When the host asks for shutdown
    And the extension answers with a result or an error
    Then no frame breaks a rule of this scenario
