@0.3
Feature: Requests of an extension and to its optional services
  Whatever becomes of its own requests, an extension goes on serving, and it refuses what breaks a model.

  @EXT03-ENV-024 @EXT03-ENV-025 @EXT03-ENV-026
  Scenario: The envelopes of what an extension asks
    Given the extension is ready
    When the host has an ordinary conversation
    And the extension goes on serving
    Then no frame breaks a rule of this scenario

  @EXT03-METHOD-010
  Scenario: The host refuses everything
    Given the extension is ready
    And the host answers everything with the error internal_error
    When the host makes the sample call
    And the extension answers with a result or an error
    Then the extension goes on serving
    And the host makes the sample call
    And the extension answers with a result or an error

  @EXT03-ORDER-013
  Scenario: The host is slow to answer
    Given the extension is ready
    And the host answers everything with silence
    And a call is running that waits for the host
    Then the extension goes on serving
    And the host answers everything with what it is due
    And every call is answered

  @EXT03-ORDER-012
  Scenario: A request has the id of one that the extension waits for
    Given the extension is ready
    And the host answers everything with silence
    And a call is running that waits for the host
    When the host sends the line {"id":«asked»,"jsonrpc":"2.0","method":"conform/probe","params":{}}
    Then the extension answers with the error unknown_method
    And the host answers everything with what it is due
    And every call is answered

  @EXT03-METHOD-009
  Scenario: Hooks that break their model
    Given the extension selects hook/run
    And the extension is ready
    Then each of these lines is answered with the error invalid_params
      | {"id":«id»,"jsonrpc":"2.0","method":"hook/run","params":{}}                                                                                                                      |
      | {"id":«id»,"jsonrpc":"2.0","method":"hook/run","params":{"hook":"session_start"}}                                                                                                |
      | {"id":«id»,"jsonrpc":"2.0","method":"hook/run","params":{"hook":"session_pause","payload":{}}}                                                                                   |
      | {"id":«id»,"jsonrpc":"2.0","method":"hook/run","params":{"hook":"session_start","payload":{"binding":{"extension_instance_id":"i","process_generation":"1","session_id":"s"}}}} |
    And each of these lines is answered with the error resource_exhausted
      | {"id":«id»,"jsonrpc":"2.0","method":"hook/run","params":{"hook":"session_start","payload":{"binding":{"extension_instance_id":"i","process_generation":1,"session_id":"«repeat 257 s»"}}}} |

  @EXT03-METHOD-009
  Scenario: Detections and imports that break their model
    Given the extension selects migration/detect
    And the extension is ready
    Then each of these lines is answered with the error invalid_params
      | {"id":«id»,"jsonrpc":"2.0","method":"migration/detect","params":{}}                                             |
      | {"id":«id»,"jsonrpc":"2.0","method":"migration/detect","params":{"source_root":7}}                              |
      | {"id":«id»,"jsonrpc":"2.0","method":"migration/detect","params":{"environment":{},"source_root":«source empty»}} |
    And each of these lines is answered with the error resource_exhausted
      | {"id":«id»,"jsonrpc":"2.0","method":"migration/detect","params":{"source_root":"/«repeat 4096 r»"}} |

  @EXT03-METHOD-009
  Scenario: Imports that break their model
    Given the extension selects migration/import
    And the extension is ready
    Then each of these lines is answered with the error invalid_params
      | {"id":«id»,"jsonrpc":"2.0","method":"migration/import","params":{"source_root":«source empty»}}                     |
      | {"id":«id»,"jsonrpc":"2.0","method":"migration/import","params":{"config_paths":[1],"source_root":«source empty»}}  |
      | {"id":«id»,"jsonrpc":"2.0","method":"migration/import","params":{"config_paths":null,"source_root":«source empty»}} |
    And each of these lines is answered with the error resource_exhausted
      | {"id":«id»,"jsonrpc":"2.0","method":"migration/import","params":{"config_paths":[«list 129 "p%d"»],"source_root":«source empty»}} |

  @EXT03-METHOD-009
  Scenario: Streams that break their model
    Given the extension selects provider/stream
    And the extension is ready
    Then each of these lines is answered with the error invalid_params
      | {"id":«id»,"jsonrpc":"2.0","method":"provider/stream","params":{}}                                                                                              |
      | {"id":«id»,"jsonrpc":"2.0","method":"provider/stream","params":{"model_id":"m","provider_id":"p","request":null,"stream_id":"s"}}                               |
      | {"id":«id»,"jsonrpc":"2.0","method":"provider/stream","params":{"endpoint":"e","model_id":"m","provider_id":"p","request":{},"stream_id":"s"}}                  |
    And each of these lines is answered with the error resource_exhausted
      | {"id":«id»,"jsonrpc":"2.0","method":"provider/stream","params":{"model_id":"m","provider_id":"«repeat 65 p»","request":{},"stream_id":"s"}} |
