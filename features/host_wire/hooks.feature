Feature: A host asks extensions what they think
  Hooks are run in the order of registration, and what they answer counts as far as the hook allows.

  @0.1 @0.2 @0.4 @EXT04-HOOK-013 @EXT01-HOOK-001 @EXT04-HOOK-014 @EXT04-HOOK-015 @EXT04-HOOK-017 @EXT04-HOOK-019 @EXT04-HOOK-020 @EXT04-OWNER-003 @EXT04-RELOAD-014
  Scenario: The hooks of a prompt
    Given an extension "alpha" that answers
      | hook/run before_prompt    | {}         |
      | hook/run after_response   | {}         |
      | hook/run before_tool_call | {}         |
      | hook/run after_tool_call  | {}         |
      | tool/call note            | says noted |
    And an extension "beta" that answers
      | hook/run before_prompt | {} |
    And the model calls the tool "note" with {"text":"this"}
    When the host is given the prompt "hello"
    And the host ends
    Then each "hook/run before_prompt" to "alpha" has
      | /hook                    | "before_prompt"  |
      | /payload/prompt          | "hello"          |
      | /context/workspace       | a string         |
      | /context/execution_scope | null or a string |
      | /context/host            | an object        |
    And each "hook/run after_response" to "alpha" has
      | /payload/response | "The model has spoken." |
      | /context          | an object               |
    And each "hook/run before_tool_call" to "alpha" has
      | /payload/name      | "note"          |
      | /payload/arguments | {"text":"this"} |
      | /context           | an object       |
    And each "hook/run after_tool_call" to "alpha" has
      | /payload/name      | "note"          |
      | /payload/arguments | {"text":"this"} |
      | /payload/output    | "noted"         |
      | /payload/is_error  | false           |
    And "alpha" was asked nothing but
      | initialize                |
      | hook/run before_prompt    |
      | hook/run after_response   |
      | hook/run before_tool_call |
      | hook/run after_tool_call  |
      | tool/call note            |
      | shutdown                  |
    And "beta" was asked nothing but
      | initialize             |
      | hook/run before_prompt |
      | shutdown               |
    And the model was asked 2 times

  @0.1 @EXT01-OWNER-001
  Scenario: No owner on the version that has none
    Given an extension "alpha" that answers
      | hook/run before_prompt | {} |
    When the host is given the prompt "hello"
    And the host ends
    Then each "hook/run before_prompt" to "alpha" has
      | /context/resource_owner | nothing |

  @0.1 @0.2 @0.4 @EXT04-HOOK-018
  Scenario: The member of another hook
    Given an extension "alpha" that answers
      | hook/run before_prompt | {"disposition":{"action":"deny","reason":"no"},"persistence_metadata":{"value":1,"public":true}} |
    When the host is given the prompt "hello"
    And the host ends
    Then the model was asked 1 times

  @0.1 @0.2 @0.4 @EXT04-HOOK-021 @EXT04-CTX-005
  Scenario Outline: How long a prompt waits
    Given an extension "alpha" that answers
      | <topic> | nothing |
    When the host is given the prompt "hello"
    And the host ends
    Then the host waits 5000 ms for the answer of "alpha" to "<topic>"
    And the model was asked 1 times

    Examples:
      | topic                  |
      | hook/run before_prompt |
      | context/collect        |

  @0.1 @0.2 @0.4 @EXT04-HOOK-022
  Scenario: How long a response waits
    Given an extension "alpha" that answers
      | hook/run after_response | nothing |
    When the host is given the prompt "hello"
    And the host ends
    Then the host waits 2000 ms for the answer of "alpha" to "hook/run after_response"

  @0.1 @0.2 @0.4
  Scenario Outline: The first denial ends the round
    Given an extension "alpha" that answers
      | hook/run before_prompt | {"disposition":{"action":"<one>","reason":"alpha says no"}} |
    And an extension "beta" that answers
      | hook/run before_prompt | {"disposition":{"action":"<other>","reason":"beta says no"}} |
    When the host is given the prompt "hello"
    And the host ends
    Then "beta" was <how> asked "hook/run before_prompt"
    And "alpha" was once asked "hook/run before_prompt"
    And the model was asked 0 times
    And the host says "says no"

    @EXT04-HOOK-024
    Examples:
      | one      | other    | how   |
      | deny     | continue | never |
      | deny     | deny     | never |

    @EXT04-HOOK-024 @EXT04-HOOK-026
    Examples:
      | one      | other    | how   |
      | continue | deny     | once  |

  @0.1 @0.2 @0.4 @EXT04-HOOK-025
  Scenario: The context of all
    Given an extension "alpha" that answers
      | hook/run before_prompt | {"context":[{"label":"a","content":"from-alpha"}]} |
    And an extension "beta" that answers
      | hook/run before_prompt | {"context":[{"label":"b","content":"from-beta"}]} |
    And the extension "alpha" declares {"context":true}
    And the extension "beta" declares {"context":true}
    When the host is given the prompt "hello"
    And the host ends
    Then "from-alpha" stands in front of "from-beta" in what the model is told

  @0.1 @0.2 @0.4 @EXT04-HOOK-027
  Scenario: A call that is denied
    Given an extension "alpha" that answers
      | hook/run before_tool_call | {"disposition":{"action":"deny","reason":"not today"}} |
      | tool/call note            | says noted                                             |
    And the model calls the tool "note" with {"text":"this"}
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" was once asked "hook/run before_tool_call"
    And "alpha" was never asked "tool/call note"
    And the model is told "not today"

  @0.1 @0.2 @0.4 @EXT04-HOOK-028
  Scenario: A denial of what has happened
    Given an extension "alpha" that answers
      | hook/run after_tool_call | {"disposition":{"action":"deny","reason":"too late"}} |
      | hook/run after_response  | {"disposition":{"action":"deny","reason":"too late"}} |
      | tool/call note           | says noted                                            |
    And the model calls the tool "note" with {"text":"this"}
    When the host is given the prompt "hello"
    And the host ends
    Then the model is told "noted"
    And the host says "The model has spoken."
    And the host ended well

  @0.1 @0.2 @0.4 @EXT04-HOOK-029
  Scenario: An opinion that cannot be had
    Given an extension "alpha" that answers
      | hook/run before_prompt    | error internal_error |
      | hook/run before_tool_call | error internal_error |
      | tool/call note            | says noted           |
    And the model calls the tool "note" with {"text":"this"}
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" was once asked "tool/call note"
    And the model was asked 2 times
    And the host says "before_prompt"
    And the host says "before_tool_call"

  @0.1 @0.2 @0.4 @EXT04-HOOK-030
  Scenario: News that one extension does not take
    Given an extension "alpha" that answers
      | hook/run after_tool_call | error internal_error |
      | hook/run after_response  | error internal_error |
    And an extension "beta" that answers
      | hook/run after_tool_call | {}         |
      | hook/run after_response  | {}         |
      | tool/call note           | says noted |
    And the model calls the tool "note" with {"text":"this"}
    When the host is given the prompt "hello"
    And the host ends
    Then "beta" was once asked "hook/run after_tool_call"
    And "beta" was once asked "hook/run after_response"
    And the host says "after_response"

  @0.1 @0.2 @0.4 @EXT04-HOOK-031
  Scenario: No response to tell of
    Given an extension "alpha" that answers
      | hook/run after_response | {} |
    And the model fails with 400
    When the host is given the prompt "hello"
    And the host ends
    Then the model was asked 1 times
    And "alpha" was never asked "hook/run after_response"

  @0.2 @0.4 @EXT04-HOOK-032 @EXT04-HOOK-033 @EXT04-HOOK-034
  Scenario: A request that is to be sent again
    Given an extension "alpha" that answers
      | hook/run provider_retry | {} |
    And the model fails with 503
    When the host is given the prompt "hello"
    And the host ends
    Then each "hook/run provider_retry" to "alpha" has
      | /payload/kind         | "before_generation" or "stream_start" or "interrupted_inference" or "waiting_for_network" |
      | /payload/max_attempts | a number or null                                                                          |
      | /payload/operation    | null                                                                                      |
    And the model was asked 2 times

  @0.2 @0.4 @EXT04-HOOK-036
  Scenario: A retry that one extension declines
    Given an extension "alpha" that answers
      | hook/run provider_retry | {"provider_retry":"stop"} |
    And an extension "beta" that answers
      | hook/run provider_retry | {} |
    And the model fails with 503
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" was once asked "hook/run provider_retry"
    And the model was asked 1 times

  @0.2 @0.4 @EXT04-HOOK-040
  Scenario: Advice that cannot be had
    Given an extension "alpha" that answers
      | hook/run provider_retry | error internal_error |
    And the model fails with 503
    When the host is given the prompt "hello"
    And the host ends
    Then the model was asked 2 times

  @0.2 @0.4 @EXT04-HOOK-041 @EXT04-HOOK-047 @EXT04-HOOK-048
  Scenario: An entry that is stored
    Given an extension "alpha" that answers
      | hook/run before_persistence | {"disposition":{"action":"deny","reason":"no"}}                        |
      | hook/run before_persistence | {"persistence_metadata":{"value":{"kept":"a-secret"},"public":true}} |
    And the model says "one-answer"
    And the model says "two-answer"
    When the host is given the prompt "first"
    And the host is given the prompt "second"
    And the host is given the prompt "third"
    And the host ends
    Then each "hook/run before_persistence" to "alpha" has
      | /payload/run_id               | a string |
      | /payload/model                | a string |
      | /payload/protocol             | a string |
      | /payload/stop_reason          | a string |
      | /payload/text_bytes           | a number |
      | /payload/tool_call_count      | a number |
      | /payload/reasoning_part_count | a number |
      | /payload/media_part_count     | a number |
      | /payload/text                 | nothing  |
    And the model is told "one-answer"
    And the model is told "two-answer"
    And the model is not told "a-secret"

  @0.2 @0.4 @EXT04-HOOK-042
  Scenario: How long an entry waits
    Given an extension "alpha" that answers
      | hook/run before_persistence | nothing |
    When the host is given the prompt "hello"
    And the host ends
    Then the host waits 200 ms for the answer of "alpha" to "hook/run before_persistence"

  @0.4 @EXT04-HOOK-082 @EXT04-HOOK-083
  Scenario: Features that a manifest must ask for
    Given an extension "alpha" that answers
      | hook/run before_prompt | {} |
    When the host is given the prompt "hello"
    And the host ends
    Then the host offers "alpha" no feature "cache_warming_decision"
    And the host offers "alpha" no feature "compaction_strategy"

  @0.2 @0.4 @EXT04-HOOK-037
  Scenario: Delays that add up
    Given an extension "alpha" that answers
      | hook/run provider_retry | {"provider_retry":{"delay":{"additional_delay_ms":4000}}} |
    And an extension "beta" that answers
      | hook/run provider_retry | {"provider_retry":{"delay":{"additional_delay_ms":4000}}} |
    And the model fails with 503
    When the host is given the prompt "hello"
    And the host ends
    Then the host waits at least 5000 ms in front of request 2 to the model

  @0.2 @0.4 @EXT04-HOOK-049 @EXT04-HOOK-050 @EXT04-HOOK-058
  Scenario: A file that is written
    Given an extension "alpha" that answers
      | hook/run post_mutation | error internal_error |
    And the model writes a file with a tool of the host
    When the host is given the prompt "hello"
    And the host ends
    Then each "hook/run post_mutation" to "alpha" has
      | /payload/kind                 | "configuration" or "resource" or "migration_ingestion" |
      | /payload/state                | "committed" or "rolled_back"                           |
      | /payload/generation           | a number                                               |
      | /payload/mutation_id          | a text like [a-z0-9:._-]{1,128}                        |
      | /payload/affected_resources/0 | a text like [a-z0-9:._-]{1,128}                        |
    And the model was asked 2 times
    And the host ended well

  @0.2 @0.4 @EXT04-HOOK-052
  Scenario: Nothing is written
    Given an extension "alpha" that answers
      | hook/run post_mutation | {}         |
      | tool/call note         | says noted |
    And the model calls the tool "note" with {"text":"this"}
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" was never asked "hook/run post_mutation"

  @0.2 @0.4 @EXT04-HOOK-053
  Scenario: How long a mutation waits
    Given an extension "alpha" that answers
      | hook/run post_mutation | nothing |
    And an extension "beta" that answers
      | hook/run post_mutation | nothing |
    And the model writes a file with a tool of the host
    When the host is given the prompt "hello"
    And the host ends
    Then "beta" was once asked "hook/run post_mutation"
    And the host waits 250 ms for the answer of "alpha" to "hook/run post_mutation"
