Feature: A host offers services
  What it offers is what it has, each with the terms that go with it. What is selected beyond that is not accepted.

  @0.1 @0.2 @0.4 @EXT04-INIT-010 @EXT04-INIT-011 @EXT04-INIT-014 @EXT04-INIT-016 @EXT04-INIT-019 @EXT04-NEG-027 @EXT04-NEG-028 @EXT04-ORDER-012 @EXT04-PROG-013 @EXT04-AGENT-009 @EXT04-AGENT-010 @EXT04-COMPLETE-004 @EXT04-UI-007 @EXT04-POLICY-004 @EXT04-RES-005 @EXT04-BULK-003 @EXT04-SECRET-002 @EXT04-BUS-002
  Scenario: What is offered
    Given a sound extension
    When the host calls the tool "echo"
    Then the host says what the tool said

  @0.2 @0.4 @EXT04-NEG-017
  Scenario: A bound above the offer
    Given a sound extension
    And it takes 999 requests at a time
    When it asks during a call
      | method | params | answer |
      | conform/unknown | {} | token unsupported_feature |
    Then the host answers as wanted
    And the host says what the tool said

  @0.4
  Scenario Outline: A hook whose feature is not selected
    Given a sound extension
    And its manifest declares {"hooks":["<hook>"]}
    When it asks during a call
      | method | params | answer |
      | conform/unknown | {} | nothing |
    Then the host gives the extension up

    @EXT04-NEG-023
    Examples:
      | hook |
      | cache_warming_decision |
      | resources_discover |

    @EXT04-NEG-024
    Examples:
      | hook |
      | compaction_strategy |
      | model_turn_start |
      | session_compact |

  @0.2 @0.4 @EXT04-NEG-026
  Scenario: A subscription to what is no event
    Given an extension that chooses an event that does not exist
    When the host calls the tool "echo"
    And the host offers the feature "lifecycle_events"
    Then the host gives the extension up

  @0.2 @0.4 @EXT04-NEG-030
  Scenario: A feature that was selected and nothing to hang on
    Given a sound extension
    When it asks during a call
      | method | params | answer |
      | policy/evaluate | {"parent_request_id":«initialize»,"intent":{"kind":"conform","operation":"look","target":{}}} | error not_foreground_owner |
      | policy/evaluate | {"parent_request_id":«unissued»,"intent":{"kind":"conform","operation":"look","target":{}}} | error not_foreground_owner |
      | policy/evaluate | {"intent":{"kind":"conform","operation":"look","target":{}}} | error invalid_params |
    Then the host answers as wanted
    And the host says what the tool said
