@0.3
Feature: The session bus
  An extension follows the binding that its host names, speaks on its own topics only, and says what it has declared.

  @EXT03-BUS-001 @EXT03-BUS-004 @EXT03-BUS-005 @EXT03-BUS-006 @EXT03-BUS-007
  Scenario: Topics, fields and payloads in an ordinary conversation
    Given the extension selects event_bus
    And the extension is ready
    When the host has an ordinary conversation
    And the extension goes on serving
    Then no frame breaks a rule of this scenario

  @EXT03-BUS-002
  Scenario: Nobody speaks on the bus before it is bound
    Given the extension selects event_bus
    And the extension has been started
    When the host sends initialize
    And the extension answers with a result
    And the host makes the sample call
    And the extension answers with a result
    And the extension goes on serving
    Then no frame breaks a rule of this scenario

  @EXT03-BUS-003
  Scenario: The bus is bound anew
    Given the extension selects event_bus
    And the extension is ready
    And the extension goes on serving
    When the host sends the line {"jsonrpc":"2.0","method":"bus/lifecycle","params":«rebind»}
    And the extension goes on serving
    And the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @EXT03-BUS-008
  Scenario: A topic that an extension waits for is declared
    Given the extension selects bus/subscribe
    And the extension is ready
    When the host has an ordinary conversation
    And the host sends the line {"jsonrpc":"2.0","method":"bus/lifecycle","params":«announce»}
    Then the extension sends bus/subscribe

  @EXT03-BUS-008
  Scenario: Subscriptions are made again under a new binding
    Given the extension selects bus/subscribe
    And the extension is ready
    When the host has an ordinary conversation
    And the extension uses bus/subscribe
    And the host sends the line {"jsonrpc":"2.0","method":"bus/lifecycle","params":«rebind»}
    Then the extension sends bus/subscribe

  @EXT03-BUS-009
  Scenario Outline: Behind a notice that nobody can understand
    Given the extension selects event_bus
    And the extension is ready
    And the extension goes on serving
    When the host sends the line {"jsonrpc":"2.0","method":"bus/lifecycle","params":<notice>}
    And the extension goes on serving or ends
    And the host makes the sample call
    And the extension goes on serving or ends
    Then no frame breaks a rule of this scenario

    Examples:
      | notice                                                                            |
      | {"kind":"weather"}                                                                |
      | {"binding_id":7,"binding_revision":2,"kind":"binding"}                            |
