Feature: A host tells extensions what happens
  Events are told to those who want them, and are no questions.

  @0.2 @0.4 @EXT04-EVENT-004 @EXT04-EVENT-005 @EXT04-EVENT-006
  Scenario: A run with a call
    Given an extension "alpha" that answers
      | tool/call note | says noted |
    And the model calls the tool "note" with {"text":"this"}
    When the host is given the prompt "hello"
    And the host ends
    Then each "session/started" to "alpha" has
      | /session_id | a string |
    And each "turn/started" to "alpha" has
      | /session_id | a string |
      | /run_id     | a string |
      | /turn_id    | a string |
    And each "turn/settled" to "alpha" has
      | /session_id  | a string         |
      | /run_id      | a string         |
      | /turn_id     | a string         |
      | /outcome     | "completed"      |
      | /duration_ms | a number         |
      | /reason      | null or a string |
    And each "tool/started" to "alpha" has
      | /session_id   | a string |
      | /run_id       | a string |
      | /turn_id      | a string |
      | /tool_call_id | a string |
      | /tool_name    | a string |
    And each "tool/settled" to "alpha" has
      | /tool_call_id | a string    |
      | /turn_id      | a string    |
      | /outcome      | "completed" |
      | /duration_ms  | a number    |
    And each "session/settled" to "alpha" has
      | /outcome | a string |
    And "turn/started" reaches "alpha" in front of "turn/settled"

  @0.2 @0.4 @EXT04-EVENT-002
  Scenario: Chosen events
    Given an extension "alpha" that answers
      | tool/call note | says noted |
    And the extension "alpha" subscribes to turn/started
    And an extension "beta" that answers
      | hook/run before_prompt | {} |
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" was once asked "turn/started"
    And "alpha" was never asked "turn/settled"
    And "alpha" was never asked "session/started"
    And "beta" was once asked "turn/started"
    And "beta" was once asked "turn/settled"
    And "beta" was once asked "session/started"

  @0.2 @0.4 @EXT04-EVENT-003
  Scenario: No events
    Given an extension "alpha" that answers
      | tool/call note | says noted |
    And the extension "alpha" leaves lifecycle_events lifecycle_events_v2
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" was never asked "turn/started"
    And "alpha" was never asked "session/started"

  @0.2 @0.4 @EXT04-EVENT-011
  Scenario: A run that fails
    Given an extension "alpha" that answers
      | tool/call note | says noted |
    And the model fails with 400
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" was once asked "turn/started"
    And each "turn/settled" to "alpha" has
      | /outcome | "failed" |

  @0.2 @0.4 @EXT04-EVENT-009 @EXT04-EVENT-014 @EXT04-EVENT-016 @EXT04-EVENT-017 @EXT04-EVENT-019
  Scenario: Two rounds of the model in one turn
    Given an extension "alpha" that answers
      | tool/call note | says noted |
    And the model calls the tool "note" with {"text":"this"}
    And the model says "all-done"
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" was once asked "turn/started"
    And each "message/started" to "alpha" has
      | /message_id | a string |
    And each "message/updated" to "alpha" has
      | /message_id | a string   |
      | /delta      | "all-done" |
      | /deltas     | 1          |
    And each "message/settled" to "alpha" has
      | /message_id | a string |
    And "message/updated" reaches "alpha" in front of "message/settled"

  @0.2 @0.4 @EXT04-EVENT-013
  Scenario: The first six events alone
    Given an extension "alpha" that answers
      | tool/call note | says noted |
    And the extension "alpha" leaves lifecycle_events_v2
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" was once asked "turn/started"
    And "alpha" was never asked "message/started"
    And "alpha" was never asked "message/settled"

  @0.2 @0.4 @EXT04-EVENT-012
  Scenario: Endings in front of a reload
    Given an extension "alpha" that answers
      | command/execute greet | {"text":"greeted"} |
    When the host is given the prompt "hello"
    And the host reloads "alpha"
    And the host is given the prompt "again"
    And the host ends
    Then "alpha" was 2 times asked "session/started"
    And "alpha" was 2 times asked "session/settled"
    And the 1st "session/settled" to "alpha" has
      | /outcome | "interrupted" |
      | /reason  | "reload"      |
    And "session/settled" reaches "alpha" in front of "shutdown"
