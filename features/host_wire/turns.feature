Feature: A host asks extensions at the turns of the model
  What such a hook answers stops the session, and never changes what has been stored.

  @0.4 @EXT04-HOOK-016 @EXT04-HOOK-059 @EXT04-HOOK-060 @EXT04-HOOK-063 @EXT04-HOOK-064 @EXT04-HOOK-065 @EXT04-HOOK-073
  Scenario: Two turns
    Given an extension "alpha" that answers
      | hook/run model_turn_start | {}         |
      | hook/run model_turn_end   | {}         |
      | tool/call note            | says noted |
    And the model calls the tool "note" with {"text":"this"}
    When the host is given the prompt "hello"
    And the host ends
    Then each "hook/run model_turn_start" to "alpha" has
      | /session_leaf         | a string or an object |
      | /payload/kind         | "model_turn_start" |
      | /payload/run_id       | a text like run:.+ |
      | /payload/turn_index   | 0 or 1             |
      | /payload/timestamp_ms | a number           |
    And each "hook/run model_turn_end" to "alpha" has
      | /payload/kind                           | "model_turn_end"   |
      | /payload/run_id                         | a text like run:.+ |
      | /payload/assistant_entry/id             | a string           |
      | /payload/assistant_entry/parent         | a string or null   |
      | /payload/assistant_entry/timestamp_unix_ms | a number        |
      | /payload/assistant_entry/value          | an object          |
      | /payload/tool_result_entries            | a list             |
    And the 1st "hook/run model_turn_end" to "alpha" has
      | /payload/turn_index            | 0        |
      | /payload/tool_result_entries/0 | an object |
    And the 2nd "hook/run model_turn_end" to "alpha" has
      | /payload/turn_index            | 1       |
      | /payload/tool_result_entries/0 | nothing |
    And the model was asked 2 times

  @0.4 @EXT04-HOOK-061 @EXT04-HOOK-069
  Scenario: A turn that an extension fails
    Given an extension "alpha" that answers
      | hook/run model_turn_start | error internal_error |
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" was once asked "hook/run model_turn_start"
    And the model was asked 0 times

  @0.4 @EXT04-HOOK-068
  Scenario: A turn is no place for context
    Given an extension "alpha" that answers
      | hook/run model_turn_start | {"context":[{"label":"a","content":"from-alpha"}]} |
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" was once asked "hook/run model_turn_start"
    And the model was asked 0 times

  @0.4 @EXT04-HOOK-062
  Scenario: A retry is no turn
    Given an extension "alpha" that answers
      | hook/run model_turn_start | {} |
    And the model fails with 503
    When the host is given the prompt "hello"
    And the host ends
    Then the model was asked 2 times
    And "alpha" was once asked "hook/run model_turn_start"

  @0.4
  Scenario Outline: A summary that an extension vetoes or replaces
    Given an extension "alpha" that answers
      | hook/run session_before_compact | <answer> |
      | hook/run session_compact        | {}       |
    And the model says "one-answer"
    When the host is given the prompt "first"
    And the host sums the conversation up
    And the host is given the prompt "second"
    And the host ends
    Then "alpha" was once asked "hook/run session_before_compact"
    And "alpha" was never asked "hook/run session_compact"
    And the model was asked 2 times
    And the model is told "one-answer"

    @EXT04-HOOK-074
    Examples:
      | answer                                   |
      | {"session_operation":{"action":"cancel"}} |

    @EXT04-HOOK-076
    Examples:
      | answer                                                               |
      | {"session_operation":{"action":"replace_compaction","summary":"x"}} |

  @0.4 @EXT04-HOOK-066
  Scenario: An answer that fits no frame
    Given an extension "alpha" that answers
      | hook/run model_turn_end | {} |
    And the model says 1100000 bytes
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" was never asked "hook/run model_turn_end"
    And the host says "model_turn_end"

  @0.4 @EXT04-HOOK-067
  Scenario: The order of turns
    Given an extension "alpha" that answers
      | hook/run model_turn_start | error internal_error |
    And an extension "beta" that answers
      | hook/run model_turn_start | {} |
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" was once asked "hook/run model_turn_start"
    And "beta" was never asked "hook/run model_turn_start"

  @0.4 @EXT04-HOOK-075
  Scenario: A summary that an extension fails behind
    Given an extension "alpha" that answers
      | hook/run session_compact | error internal_error |
    And the model says "one-answer"
    And the model says "the-summary"
    When the host is given the prompt "first"
    And the host sums the conversation up
    And the host is given the prompt "second"
    And the host ends
    Then "alpha" was once asked "hook/run session_compact"
    And the host says "session_compact"
    And the model was asked 3 times
    And the model is told "the-summary"

  @0.4 @EXT04-HOOK-084 @EXT04-HOOK-088 @EXT04-HOOK-089
  Scenario Outline: A summary in pictures that is none
    Given an extension "alpha" that answers
      | hook/run compaction_strategy | <answer> |
    And the model says 5000 bytes
    When the host is given the prompt "first-words"
    And the host sums the conversation up
    And the host is given the prompt "second"
    And the host ends
    Then each "hook/run compaction_strategy" to "alpha" has
      | /payload/model_id | a string                        |
      | /payload/text     | a string |
    And each "hook/run compaction_strategy" to "alpha" has at most 2048 characters in its text
    And the model was asked 2 times
    And the model is told "octet octet"
    And the host says "compaction_strategy"

    Examples:
      | answer                           |
      | {"compaction_frames":[]}         |
      | {"compaction_frames":["AAAA"]}   |
      | error internal_error             |

  @0.4 @EXT04-HOOK-091
  Scenario: Two that would sum up
    Given an extension "alpha" that answers
      | hook/run compaction_strategy | error internal_error |
    And an extension "beta" that answers
      | hook/run compaction_strategy | error internal_error |
    When the host is given the prompt "first"
    And the host sums the conversation up
    And the host ends
    Then "alpha" was once asked "hook/run compaction_strategy"
    And "beta" was never asked "hook/run compaction_strategy"
