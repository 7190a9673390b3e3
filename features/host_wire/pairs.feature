@0.3
Feature: A host tells extensions of sessions
  A binding begins with one session_start, ends with one session_end, and nothing that is answered holds it up.

  @EXT03-HOOK-004 @EXT03-HOOK-019
  Scenario: An extension that declares no session hooks
    Given an extension "alpha" that answers
      | tool/call note | says noted |
    And the model calls the tool "note" with {"text":"this"}
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" was once asked "tool/call note"
    And "alpha" was asked nothing but
      | initialize     |
      | tool/call note |
      | shutdown       |
    And "alpha" was never asked "session/started"
    And "alpha" was never asked "session/settled"

  @EXT03-HOOK-005 @EXT03-HOOK-006 @EXT03-HOOK-007 @EXT03-HOOK-009 @EXT03-HOOK-010 @EXT03-HOOK-012 @EXT03-HOOK-008 @EXT03-HOOK-013
  Scenario: One session
    Given an extension "alpha" that answers
      | hook/run session_start | {"disposition":{"kind":"continue"}} |
      | hook/run session_end   | {"disposition":{"kind":"continue"}} |
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" was once asked "hook/run session_start"
    And "alpha" was once asked "hook/run session_end"
    And each "hook/run session_start" to "alpha" has just the members
      | /                | hook payload                                        |
      | /payload         | binding                                             |
      | /payload/binding | extension_instance_id process_generation session_id |
    And each "hook/run session_end" to "alpha" has just the members
      | /payload         | binding duration_ms outcome reason                  |
      | /payload/binding | extension_instance_id process_generation session_id |
    And each "hook/run session_end" to "alpha" has
      | /payload/outcome     | "completed" or "failed" or "cancelled" or "interrupted" or "frontend_disconnected" or "shutdown" or "limit_reached" |
      | /payload/reason      | "shutdown" or "reload" or "crash" or "cancelled" |
      | /payload/duration_ms | a number                                            |
    And each "hook/run session_start" to "alpha" has
      | /payload/binding/session_id            | a text like .{1,256} |
      | /payload/binding/extension_instance_id | a text like .{1,256} |
    And "/payload/binding" of "hook/run session_end" to "alpha" is that of "hook/run session_start"
    And "hook/run session_end" reaches "alpha" in front of "shutdown"

  @EXT03-HOOK-014
  Scenario: How long a session hook waits
    Given an extension "alpha" that answers
      | hook/run session_start | nothing |
      | hook/run session_end | {"disposition":{"kind":"continue"}} |
    When the host is given the prompt "hello"
    And the host ends
    Then the model was asked 1 times
    And the host waits 250 ms for the answer of "alpha" to "hook/run session_start"

  @EXT03-HOOK-015 @EXT03-HOOK-016
  Scenario Outline: A session hook that has no answer
    Given an extension "alpha" that answers
      | hook/run session_start | <answer> |
      | hook/run session_end | {"disposition":{"kind":"continue"}} |
    When the host is given the prompt "hello"
    And the host shows its extensions
    And the host ends
    Then the model was asked 1 times
    And the host says "session_start"

    Examples:
      | answer               |
      | nothing              |
      | error internal_error |
      | {"disposition":7}    |

  @EXT03-HOOK-016 @EXT03-HOOK-017
  Scenario Outline: An opinion about a session
    Given an extension "alpha" that answers
      | hook/run session_start | <answer> |
      | hook/run session_end | {"disposition":{"kind":"continue"}} |
    When the host is given the prompt "hello"
    And the host shows its extensions
    And the host ends
    Then the model was asked 1 times
    And the host says "not now"

    Examples:
      | answer                                               |
      | {"disposition":{"kind":"deny","reason":"not now"}}   |

  @EXT03-RELOAD-001 @EXT03-RELOAD-003
  Scenario: A reload between two bindings
    Given an extension "alpha" that answers
      | hook/run session_start | {"disposition":{"kind":"continue"}} |
      | hook/run session_end   | {"disposition":{"kind":"continue"}} |
    When the host is given the prompt "hello"
    And "alpha" is asked "hook/run session_start"
    And the extension "alpha" answers from its next start on
      | hook/run session_start | nothing |
    And the host reloads "alpha"
    And the host is given the prompt "again"
    And the host ends
    Then "alpha" was started 2 times
    And the 1st "hook/run session_end" to "alpha" has
      | /payload/outcome                    | "interrupted" |
      | /payload/reason                     | "reload"      |
      | /payload/binding/process_generation | 1             |
    And the 2nd "hook/run session_start" to "alpha" has
      | /payload/binding/process_generation | 2 |
    And the 1st "hook/run session_end" to "alpha" comes before the 2nd "hook/run session_start"

  @EXT03-RELOAD-002
  Scenario: A binding that a crash ends
    Given an extension "alpha" that answers
      | hook/run session_start | {"disposition":{"kind":"continue"}} |
      | hook/run session_end   | {"disposition":{"kind":"continue"}} |
      | tool/call note         | and exits                           |
    And the model calls the tool "note" with {"text":"this"}
    When the host is given the prompt "hello"
    And "alpha" is asked "hook/run session_start" for the 2nd time
    And the host ends
    Then the 1st "hook/run session_end" to "alpha" has
      | /payload/outcome                    | "interrupted" |
      | /payload/reason                     | "crash"       |
      | /payload/binding/process_generation | 1             |
    And the 2nd "hook/run session_start" to "alpha" has
      | /payload/binding/process_generation | 2 |
    And the 1st "hook/run session_end" to "alpha" comes before the 2nd "hook/run session_start"
