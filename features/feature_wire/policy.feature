@0.2 @0.4
Feature: Policy and secrets
  An intent is told before it is acted upon, and a secret is asked for by a name that the manifest has.

  @EXT04-POLICY-001 @EXT04-POLICY-002
  Scenario: Intents of a conversation
    Given the extension selects policy_intents
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @EXT04-SECRET-001
  Scenario: Secrets of a conversation
    Given the extension selects secrets
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario
