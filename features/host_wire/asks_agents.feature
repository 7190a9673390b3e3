Feature: A host is asked for child agents
  An agent belongs to the owner of the call that it was made for. The same key is the same agent.

  @0.2 @0.4 @EXT04-AGENT-015 @EXT04-AGENT-016 @EXT04-AGENT-018 @EXT04-AGENT-020 @EXT04-AGENT-021 @EXT04-AGENT-023 @EXT04-AGENT-027 @EXT04-AGENT-031 @EXT04-AGENT-032 @EXT04-AGENT-035 @EXT04-AGENT-036 @EXT04-AGENT-037 @EXT04-AGENT-038 @EXT04-AGENT-039 @EXT04-AGENT-041
  Scenario: Child agents
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | agent/spawn | {"parent_request_id":«call»,"task_name":"look","message":"Look.","idempotency_key":"k-1","policy":{"tools":["read"],"max_depth":1,"max_concurrent_children":1,"max_turns":null,"max_tokens":null,"max_cost_microdollars":null,"max_output_bytes":512,"timeout_ms":null}} | result {"task_name":"look","idempotency_key":"k-1"} | EXT04-AGENT-021 |
      | agent/spawn | {"parent_request_id":«call»,"task_name":"look","message":"Look.","idempotency_key":"k-1","policy":{"tools":["read"],"max_depth":1,"max_concurrent_children":1,"max_turns":null,"max_tokens":null,"max_cost_microdollars":null,"max_output_bytes":512,"timeout_ms":null}} | result {"agent_id":«from 1 agent_id»} | EXT04-AGENT-023 |
      | agent/spawn | {"parent_request_id":«call»,"task_name":"look","message":"Look elsewhere.","idempotency_key":"k-1","policy":{"tools":["read"],"max_depth":1,"max_concurrent_children":1,"max_turns":null,"max_tokens":null,"max_cost_microdollars":null,"max_output_bytes":512,"timeout_ms":null}} | error not_foreground_owner | EXT04-AGENT-023 |
      | agent/spawn | {"parent_request_id":«call»,"task_name":"look","message":"No policy.","idempotency_key":"k-2"} | error invalid_params | EXT04-AGENT-015 |
      | agent/spawn | {"parent_request_id":«call»,"task_name":"look","message":"«repeat 131073 m»","idempotency_key":"k-3","policy":{"tools":["read"],"max_depth":1,"max_concurrent_children":1,"max_turns":null,"max_tokens":null,"max_cost_microdollars":null,"max_output_bytes":512,"timeout_ms":null}} | error invalid_params | EXT04-AGENT-018 |
      | agent/spawn | {"parent_request_id":«call»,"task_name":"look","message":"Select.","idempotency_key":"k-4","policy":{"tools":["read"],"max_depth":1,"max_concurrent_children":1,"max_turns":null,"max_tokens":null,"max_cost_microdollars":null,"max_output_bytes":512,"timeout_ms":null,"model_selection":{"provider":"conform","model":"conform-model"}}} | error | EXT04-AGENT-020 |
      | agent/message | {"parent_request_id":«call»,"target":"/conform-none","message":"Hello."} | error not_foreground_owner | EXT04-AGENT-016 |
      | agent/message | {"parent_request_id":«call»,"target":«from 1 agent_id»,"message":"Hello."} | result {"delivered_to":«from 1 agent_id»} | EXT04-AGENT-031 |
      | agent/follow_up | {"parent_request_id":«call»,"target":«from 1 agent_id»,"message":"Once more."} | result {"agent_id":«from 1 agent_id»,"agent_path":«from 1 agent_path»} | EXT04-AGENT-032 |
      | agent/list | {"parent_request_id":«call»,"marker":35} | result {"persistence_error":null} | EXT04-AGENT-035 |
      | agent/list | {"parent_request_id":«call»,"marker":36} | result | EXT04-AGENT-036 |
      | agent/list | {"parent_request_id":«call»,"marker":37} | result | EXT04-AGENT-037 |
      | agent/list | {"parent_request_id":«call»,"marker":27} | result | EXT04-AGENT-027 |
      | agent/wait | {"parent_request_id":«call»,"timeout_ms":100} | result | EXT04-AGENT-038 |
      | agent/wait | {"parent_request_id":«call»,"timeout_ms":0} | result | EXT04-AGENT-039 |
      | agent/interrupt | {"parent_request_id":«call»,"target":«from 1 agent_id»} | result {"agent_id":«from 1 agent_id»} | EXT04-AGENT-041 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-AGENT-017
  Scenario: More agents than an owner may have
    Given a sound extension
    When it asks during a call
      | times | method | params | answer |
      | 32 | agent/spawn | {"parent_request_id":«call»,"task_name":"look","message":"One of many.","idempotency_key":"many-«n»","policy":{"tools":["read"],"max_depth":1,"max_concurrent_children":1,"max_turns":null,"max_tokens":null,"max_cost_microdollars":null,"max_output_bytes":512,"timeout_ms":null}} | result or error not_foreground_owner |
      | 1 | agent/spawn | {"parent_request_id":«call»,"task_name":"look","message":"One more.","idempotency_key":"one-more","policy":{"tools":["read"],"max_depth":1,"max_concurrent_children":1,"max_turns":null,"max_tokens":null,"max_cost_microdollars":null,"max_output_bytes":512,"timeout_ms":null}} | error not_foreground_owner |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-AGENT-020 @EXT04-AGENT-022 @EXT04-AGENT-028 @EXT04-AGENT-029
  Scenario: Models of child agents
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | agent/models | {"parent_request_id":«call»,"query":"conform no such model"} | result {"models":[],"truncated":false} | EXT04-AGENT-028 |
      | agent/models | {"parent_request_id":«call»,"limit":1} | result | EXT04-AGENT-029 |
      | agent/spawn | {"parent_request_id":«call»,"task_name":"look","message":"Select nothing.","idempotency_key":"s-1","policy":{"tools":["read"],"max_depth":1,"max_concurrent_children":1,"max_turns":null,"max_tokens":null,"max_cost_microdollars":null,"max_output_bytes":512,"timeout_ms":null,"model_selection":{}}} | result {"resolved_model":{}} | EXT04-AGENT-022 |
      | agent/spawn | {"parent_request_id":«call»,"task_name":"look","message":"Select a provider.","idempotency_key":"s-2","policy":{"tools":["read"],"max_depth":1,"max_concurrent_children":1,"max_turns":null,"max_tokens":null,"max_cost_microdollars":null,"max_output_bytes":512,"timeout_ms":null,"model_selection":{"provider":"conform"}}} | error | EXT04-AGENT-020 |
      | agent/spawn | {"parent_request_id":«call»,"task_name":"look","message":"Select otherwise.","idempotency_key":"s-3","policy":{"tools":["read"],"max_depth":1,"max_concurrent_children":1,"max_turns":null,"max_tokens":null,"max_cost_microdollars":null,"max_output_bytes":512,"timeout_ms":null,"model_selection":{"colour":"red"}}} | error invalid_params | EXT04-AGENT-020 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.4 @EXT04-AGENT-045 @EXT04-AGENT-046 @EXT04-AGENT-048 @EXT04-AGENT-049 @EXT04-AGENT-050 @EXT04-AGENT-051 @EXT04-AGENT-052
  Scenario: Agents that outlive a call, and what they tell
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | agent/spawn | {"parent_request_id":«call»,"task_name":"look","message":"Live on.","idempotency_key":"l-1","policy":{"tools":["read"],"max_depth":1,"max_concurrent_children":1,"max_turns":null,"max_tokens":null,"max_cost_microdollars":null,"max_output_bytes":512,"timeout_ms":null}} | result |  |
      | agent/spawn | {"parent_request_id":«call»,"resource_owner":{"session_id":"conform-foreign","extension_instance_id":"conform-foreign","process_generation":1},"task_name":"look","message":"Foreign.","idempotency_key":"l-2","policy":{"tools":["read"],"max_depth":1,"max_concurrent_children":1,"max_turns":null,"max_tokens":null,"max_cost_microdollars":null,"max_output_bytes":512,"timeout_ms":null}} | error not_foreground_owner | EXT04-AGENT-045 |
      | agent/list | {"parent_request_id":«initialize»,"resource_owner":«owner»} | result | EXT04-AGENT-046 |
      | agent/list | {"parent_request_id":«initialize»} | error not_foreground_owner |  |
      | agent/events | {"parent_request_id":«call»,"target":«from 1 agent_id»,"after_sequence":0} | result {"agent_id":«from 1 agent_id»} | EXT04-AGENT-049 |
      | agent/events | {"parent_request_id":«call»,"target":«from 1 agent_id»,"after_sequence":0,"timeout_ms":0} | result {"events":«from 5 events»} | EXT04-AGENT-050 |
      | agent/events | {"parent_request_id":«call»,"target":«from 1 agent_id»,"after_sequence":1000000} | error | EXT04-AGENT-051 |
      | agent/events | {"parent_request_id":«call»,"target":«from 1 agent_id»,"after_sequence":0,"timeout_ms":25001} | error invalid_params | EXT04-AGENT-052 |
      | agent/stop | {"parent_request_id":«call»,"target":«from 1 agent_id»} | result {"agent_id":«from 1 agent_id»,"shutdown_requested":true} | EXT04-AGENT-048 |
      | agent/follow_up | {"parent_request_id":«call»,"target":«from 1 agent_id»,"message":"Come back."} | error not_foreground_owner |  |
    Then the host answers as wanted
    And the host says what the tool said
